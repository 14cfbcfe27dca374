// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/slowdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ParseSlowdown, TakesPercentAndShares) {
  EXPECT_DOUBLE_EQ(*parse_slowdown("3%"), 0.03);
  EXPECT_DOUBLE_EQ(*parse_slowdown("2.5 %"), 0.025);
  EXPECT_DOUBLE_EQ(*parse_slowdown("0.03"), 0.03);
  EXPECT_DOUBLE_EQ(*parse_slowdown("0%"), 0);
  EXPECT_DOUBLE_EQ(*parse_slowdown("1"), 1);
}

TEST(ParseSlowdown, RefusesAnythingElse) {
  for (const char* text :
       {"", "%", "fast", "3", "101%", "-1%", "-0.1", "nan", "inf", "0.03x", "0.03 %%", " 0.03"}) {
    EXPECT_FALSE(parse_slowdown(text).ok()) << text;
  }
  EXPECT_EQ(
      parse_slowdown("3x").error().message(),
      "BENCH_SLOWDOWN: `3x` is not a fraction of the time; expected one from 0% to 100%, such as "
      "3% or 0.03");
}

}  // namespace
}  // namespace bench
