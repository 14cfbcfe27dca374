// SPDX-License-Identifier: Apache-2.0
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace bench {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

TEST(Checked, ComputesWithinTheRange) {
  EXPECT_EQ((Checked(2) * 3 + 4 - 5).value(), 5);
  EXPECT_EQ((Checked(kMax) - 1 + 1).value(), kMax);
  EXPECT_EQ((Checked(kMin) + 0).value(), kMin);
}

TEST(Checked, RemembersAnOverflow) {
  EXPECT_FALSE((Checked(kMax) + 1).value());
  EXPECT_FALSE((Checked(kMin) - 1).value());
  EXPECT_FALSE((Checked(std::int64_t{1} << 32) * (std::int64_t{1} << 31)).value());
  EXPECT_FALSE(((Checked(kMax) + 1) * 0).value());
  EXPECT_FALSE((Checked(1) - (Checked(kMax) * 2)).value());
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
    const auto fits = [](__int128 x) { return x >= kMin && x <= kMax; };
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
