// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <vector>

namespace bench {
namespace {

std::vector<Nanoseconds> times(std::initializer_list<std::int64_t> counts) {
  std::vector<Nanoseconds> result;
  for (std::int64_t count : counts) result.emplace_back(count);
  return result;
}

// 1, 2, ..., n.
std::vector<Nanoseconds> ramp(std::int64_t n) {
  std::vector<Nanoseconds> result;
  for (std::int64_t i = 1; i <= n; ++i) result.emplace_back(i);
  return result;
}

TEST(Quantile, MatchesTypeSevenOfR) {
  // quantile(c(10, 40, 20, 80), c(0, .1, .25, .5, .75, .9, 1), type = 7):
  // 10 13 17.5 30 50 68 80
  const auto samples = times({10, 40, 20, 80});
  EXPECT_EQ(quantile(samples, 0), Nanoseconds(10));
  EXPECT_EQ(quantile(samples, 0.1), Nanoseconds(13));
  EXPECT_EQ(quantile(samples, 0.25), Nanoseconds(18));
  EXPECT_EQ(quantile(samples, 0.5), Nanoseconds(30));
  EXPECT_EQ(quantile(samples, 0.75), Nanoseconds(50));
  EXPECT_EQ(quantile(samples, 0.9), Nanoseconds(68));
  EXPECT_EQ(quantile(samples, 1), Nanoseconds(80));
}

TEST(Quantile, OneSampleAndNone) {
  EXPECT_EQ(quantile(times({7}), 0.3), Nanoseconds(7));
  EXPECT_FALSE(quantile(times({}), 0.5));
  EXPECT_FALSE(median(times({})));
  EXPECT_FALSE(median_absolute_deviation(times({})));
}

TEST(Quantile, HugeTimesDoNotOverflow) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(median(times({largest, largest})), Nanoseconds(largest));
  EXPECT_EQ(median(times({0, largest})), Nanoseconds(largest / 2 + 1));
  EXPECT_EQ(median(times({largest - 2, largest})), Nanoseconds(largest - 1));
}

TEST(Median, OddAndEven) {
  EXPECT_EQ(median(times({5, 1, 9})), Nanoseconds(5));
  EXPECT_EQ(median(times({1, 3})), Nanoseconds(2));
  EXPECT_EQ(median(times({1, 2})), Nanoseconds(2));  // halves round up
}

TEST(MedianAbsoluteDeviation, IgnoresAnOutlier) {
  EXPECT_EQ(median_absolute_deviation(times({1, 1, 2, 2, 4, 6, 9})), Nanoseconds(1));
  EXPECT_EQ(median_absolute_deviation(times({10, 11, 12, 13, 1'000'000})), Nanoseconds(1));
  EXPECT_EQ(median_absolute_deviation(times({4})), Nanoseconds(0));
}

TEST(MedianInterval, FiveProcesses) {
  const auto interval = median_interval(times({30, 10, 50, 20, 40}), 0.9);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, Nanoseconds(10));
  EXPECT_EQ(interval->high, Nanoseconds(50));
  EXPECT_EQ(interval->confidence, 0.9375);
}

TEST(MedianInterval, AbsentWhereTheWholeRangeCoversLess) {
  for (std::int64_t n = 0; n < 5; ++n) EXPECT_FALSE(median_interval(ramp(n), 0.9)) << n;
  EXPECT_TRUE(median_interval(ramp(5), 0.9375));
  EXPECT_FALSE(median_interval(ramp(5), 0.9376));
  EXPECT_FALSE(median_interval(ramp(10), 1.0));
}

TEST(MedianInterval, KnownRanks) {
  // Conover, Practical Nonparametric Statistics, table A3: n = 10 -> ranks 2 and 9, n = 20 -> 6 and
  // 15 for 0.95.
  const auto ten = median_interval(ramp(10), 0.95);
  ASSERT_TRUE(ten);
  EXPECT_EQ(ten->low, Nanoseconds(2));
  EXPECT_EQ(ten->high, Nanoseconds(9));
  EXPECT_EQ(ten->confidence, 1002.0 / 1024);
  const auto twenty = median_interval(ramp(20), 0.95);
  ASSERT_TRUE(twenty);
  EXPECT_EQ(twenty->low, Nanoseconds(6));
  EXPECT_EQ(twenty->high, Nanoseconds(15));
}

// Coverage of ranks (k, n+1-k): enumerates all 2^n ways in which samples lie below or above the
// median.
double enumerated_coverage(int n, int k) {
  std::int64_t covered = 0;
  for (std::uint32_t below = 0; below < 1u << n; ++below) {
    const int count = std::popcount(below);
    if (count >= k && count <= n - k) ++covered;
  }
  return static_cast<double>(covered) / static_cast<double>(1u << n);
}

TEST(MedianInterval, AgreesWithEnumeration) {
  for (int n = 1; n <= 16; ++n) {
    for (double coverage : {0.1, 0.5, 0.8, 0.9, 0.95, 0.99}) {
      int best = 0;  // the largest rank that covers enough
      for (int k = 1; k <= (n + 1) / 2; ++k) {
        if (enumerated_coverage(n, k) >= coverage) best = k;
      }
      const auto interval = median_interval(ramp(n), coverage);
      ASSERT_EQ(interval.has_value(), best > 0) << n << " " << coverage;
      if (best == 0) continue;
      EXPECT_EQ(interval->low, Nanoseconds(best));
      EXPECT_EQ(interval->high, Nanoseconds(n + 1 - best));
      EXPECT_EQ(interval->confidence, enumerated_coverage(n, best));
    }
  }
}

// Pascal's triangle in floating point: rows of C(n, k) / 2^n by adding neighbours, for larger n.
TEST(MedianInterval, AgreesWithPascalsTriangle) {
  std::vector<long double> row = {1};
  for (int n = 1; n <= 600; ++n) {
    std::vector<long double> next(row.size() + 1, 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      next[i] += row[i] / 2;
      next[i + 1] += row[i] / 2;
    }
    row = next;
    const auto interval = median_interval(ramp(n), 0.9);
    ASSERT_EQ(interval.has_value(), n >= 5);
    if (!interval) continue;
    const std::int64_t k = interval->low.count();
    long double exact = 0;
    for (std::int64_t i = k; i <= n - k; ++i) exact += row[static_cast<std::size_t>(i)];
    EXPECT_NEAR(interval->confidence, static_cast<double>(exact), 1e-14);
    EXPECT_GE(interval->confidence, 0.9);
    const long double narrower = exact - 2 * row[static_cast<std::size_t>(k)];
    EXPECT_LT(static_cast<double>(narrower), 0.9) << n;
  }
}

TEST(MedianInterval, ManySamplesFollowTheNormalLimit) {
  // Half width in ranks of a million samples: 1.6449 * sqrt(n) / 2 = 822.4.
  const auto interval = median_interval(ramp(1'000'000), 0.9);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(static_cast<double>(interval->high.count() - interval->low.count()) / 2, 822.4, 1.5);
  EXPECT_NEAR(interval->confidence, 0.9, 1e-3);
}

// The promised property: the interval contains the known median of the population with the stated
// probability.
TEST(MedianInterval, CoversTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(11);
  constexpr int kTrials = 20'000;
  for (int n : {5, 9, 20}) {
    int covered = 0;
    double confidence = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<Nanoseconds> samples;
      for (int i = 0; i < n; ++i)
        samples.emplace_back(static_cast<std::int64_t>(random() >> 2));  // uniform below 2^62
      const auto interval = median_interval(samples, 0.9);
      ASSERT_TRUE(interval);
      confidence = interval->confidence;
      const Nanoseconds truth(std::int64_t{1} << 61);
      covered += interval->low <= truth && truth <= interval->high ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(covered) / kTrials, confidence, 0.008) << n;
  }
}

TEST(RelativeHalfWidth, HalfTheIntervalOverTheMedian) {
  EXPECT_DOUBLE_EQ(*relative_half_width(times({98, 99, 100, 101, 104}), 0.9), 0.03);
  EXPECT_FALSE(relative_half_width(times({1, 2, 3, 4}), 0.9));
  EXPECT_FALSE(relative_half_width(times({0, 0, 0, 0, 0}), 0.9));
  EXPECT_DOUBLE_EQ(*relative_half_width(times({7, 7, 7, 7, 7}), 0.9), 0);
}

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
