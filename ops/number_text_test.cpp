// SPDX-License-Identifier: Apache-2.0
#include "ops/number_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace bench::ops {
namespace {

TEST(RealText, IsShortAndHasNoPlus) {
  EXPECT_EQ(format_real(0.01), "0.01");
  EXPECT_EQ(format_real(1e-5), "1e-05");
  EXPECT_EQ(format_real(1e30), "1e30");
  EXPECT_EQ(format_real(-2), "-2");
  EXPECT_EQ(format_real(1.0 / 6), "0.16666666666666666");
}

TEST(RealText, ReadsBackAsTheSameNumber) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = format_real(value);
    std::string_view unread = text;
    ASSERT_EQ(read_real(unread), value) << text;
    ASSERT_TRUE(unread.empty()) << text;
  }
}

TEST(ReadReal, StopsBehindTheNumber) {
  std::string_view text = "0.5beta2";
  EXPECT_EQ(read_real(text), 0.5);
  EXPECT_EQ(text, "beta2");
}

TEST(ReadReal, RefusesWhatIsNoFiniteNumber) {
  for (const char* input : {"", "nan", "inf", "-inf", "infinity", "x1", "-", "1e999"}) {
    std::string_view text = input;
    EXPECT_FALSE(read_real(text)) << input;
    EXPECT_EQ(text, input);
  }
}

TEST(ReadInteger, RefusesWhatDoesNotFit) {
  std::string_view largest = "9223372036854775807x";
  EXPECT_EQ(read_integer(largest), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(largest, "x");
  for (const char* input : {"", "9223372036854775808", "+1", " 1", "a"}) {
    std::string_view text = input;
    EXPECT_FALSE(read_integer(text)) << input;
    EXPECT_EQ(text, input);
  }
}

}  // namespace
}  // namespace bench::ops
