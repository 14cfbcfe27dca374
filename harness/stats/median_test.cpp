// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/median.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

const std::vector<double> kNone;

TEST(MedianTest, IsTheMiddleValueOrTheMeanOfTwo) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_EQ(median(kNone), std::nullopt);
}

// quantile(c(10, 40, 20, 80), c(0, .1, .5, .9, 1), type = 7)
TEST(QuantileTest, InterpolatesAsType7) {
  const std::vector<double> values = {10, 40, 20, 80};
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.1), 13);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.5), 30);
  EXPECT_DOUBLE_EQ(*quantile(values, 0.9), 68);
  EXPECT_EQ(quantile(values, 1), 80);
  EXPECT_EQ(quantile(std::vector{7.0}, 0.3), 7);
  EXPECT_EQ(quantile(kNone, 0.5), std::nullopt);
}

// Median 3; deviations 2, 1, 0, 1, 97: their median is 1, whatever the largest value is.
TEST(ScaledDeviationTest, IsOfTheMedianAboutTheMedian) {
  EXPECT_DOUBLE_EQ(*scaled_deviation(std::vector<double>{1, 2, 3, 4, 100}), 1.4826);
  EXPECT_EQ(scaled_deviation(std::vector{5.0}), 0);
  EXPECT_EQ(scaled_deviation(kNone), std::nullopt);
}

}  // namespace
}  // namespace bench
