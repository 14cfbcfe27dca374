// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Rates, AreWorkOverTime) {
  EXPECT_DOUBLE_EQ((Flops{231'211'008} / Nanoseconds(501'800))->value, 231'211'008e9 / 501'800);
  EXPECT_DOUBLE_EQ((Bytes{1'000} / Nanoseconds(1'000'000'000))->value, 1'000);
}

TEST(Rates, DoNotExistOverNoTime) {
  EXPECT_FALSE(Flops{1} / Nanoseconds(0));
  EXPECT_FALSE(Bytes{1} / Nanoseconds(-5));
}

TEST(Sizes, AreRoundedUpToWholeUnits) {
  EXPECT_EQ(round_up(0, 64), 0);
  EXPECT_EQ(round_up(1, 64), 64);
  EXPECT_EQ(round_up(64, 64), 64);
  EXPECT_EQ(round_up(65, 64), 128);
  EXPECT_EQ(round_up(7, 1), 7);
}

}  // namespace
}  // namespace bench
