// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace bench {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();

TEST(Checked, ComputesWithinTheRange) {
  EXPECT_EQ((Checked(2) * 3 + 4 - 5).value(), 5);
  EXPECT_EQ((Checked(kLargest) - 1 + 1).value(), kLargest);
  EXPECT_EQ((Checked(kSmallest) + 0).value(), kSmallest);
}

TEST(Checked, RemembersAnOverflow) {
  EXPECT_FALSE((Checked(kLargest) + 1).value());
  EXPECT_FALSE((Checked(kSmallest) - 1).value());
  EXPECT_FALSE((Checked(std::int64_t{1} << 32) * (std::int64_t{1} << 31)).value());
  EXPECT_FALSE(((Checked(kLargest) + 1) * 0).value());
  EXPECT_FALSE((Checked(1) - (Checked(kLargest) * 2)).value());
}

TEST(Checked, CompoundAssignment) {
  Checked product(1);
  for (int i = 0; i < 62; ++i) product *= 2;
  EXPECT_EQ(product.value(), std::int64_t{1} << 62);
  product += product;
  EXPECT_FALSE(product.value());
}

TEST(Checked, AgreesWithWideArithmetic) {
  std::mt19937_64 random(7);
  const auto draw = [&] {
    const auto shift = static_cast<int>(random() % 64);
    return static_cast<std::int64_t>(random()) >> shift;
  };
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t a = draw(), b = draw(), c = draw();
    const auto fits = [](__int128 x) { return x >= kSmallest && x <= kLargest; };
    const __int128 product = static_cast<__int128>(a) * b;
    const __int128 sum = product + c;
    const auto result = (Checked(a) * b + c).value();
    EXPECT_EQ(result.has_value(), fits(product) && fits(sum));
    if (result) {
      EXPECT_EQ(*result, static_cast<std::int64_t>(sum));
    }
  }
}

}  // namespace
}  // namespace bench
