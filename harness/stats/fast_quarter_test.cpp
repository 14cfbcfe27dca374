// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/fast_quarter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

TEST(FastQuarter, IsTheLowerQuartileWithTheSpreadBelowTheMedian) {
  const std::vector<double> values = {5, 1, 4, 2, 90};
  const auto quarter = fast_quarter(values);
  ASSERT_TRUE(quarter);
  EXPECT_DOUBLE_EQ(quarter->location, 2);
  EXPECT_DOUBLE_EQ(quarter->median_minus_min, 3);
}

TEST(FastQuarter, TwoProcessesHaveNone) {
  EXPECT_FALSE(fast_quarter(std::vector<double>{1, 2}));
  EXPECT_TRUE(fast_quarter(std::vector<double>{1, 2, 3}));
}

TEST(FastShift, TheSlowerSidesSpreadWidensTheEndThatWouldConvictIt) {
  const FastShift shift = fast_shift({.location = 1, .median_minus_min = 0.02},
                                     {.location = 3, .median_minus_min = 0.4});
  EXPECT_DOUBLE_EQ(shift.effect, 2);
  EXPECT_DOUBLE_EQ(shift.low, 2 - 0.5 - 0.01);
  EXPECT_DOUBLE_EQ(shift.high, 2 + 0.025 + 0.01);
}

TEST(FastShift, SwappingTheSidesMirrorsTheInterval) {
  const FastQuarter a = {.location = 0.3, .median_minus_min = 0.01},
                    b = {.location = 0.1, .median_minus_min = 0.07};
  const FastShift forth = fast_shift(a, b), back = fast_shift(b, a);
  EXPECT_DOUBLE_EQ(forth.effect, -back.effect);
  EXPECT_DOUBLE_EQ(forth.low, -back.high);
  EXPECT_DOUBLE_EQ(forth.high, -back.low);
}

TEST(MinimumDetectableEffect, IsWhereTheIntervalLeavesZero) {
  const FastQuarter side = {.location = 0.5, .median_minus_min = 0.02};
  const double effect = minimum_detectable_effect(side);
  EXPECT_DOUBLE_EQ(effect, 1.25 * 0.02 + 0.01);
  const FastQuarter slower = {.location = 0.5 + effect, .median_minus_min = 0.02};
  EXPECT_NEAR(fast_shift(side, slower).low, 0, 1e-12);
  EXPECT_NEAR(fast_shift(slower, side).high, 0, 1e-12);
}

}  // namespace
}  // namespace bench
