// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/shift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace bench {
namespace {

// Returns the rank c of the interval's lower end; 0 if there is no interval. The samples have the
// differences 1, 2, ..., m * n, so each difference is its own rank.
std::size_t rank_of(std::size_t m, std::size_t n, double coverage) {
  std::vector<double> base;
  std::vector<double> candidate;
  for (std::size_t i = 0; i < m; ++i) base.push_back(-static_cast<double>(i));
  for (std::size_t j = 0; j < n; ++j) candidate.push_back(static_cast<double>(j * m + 1));
  const auto interval = shift_interval(base, candidate, coverage);
  return interval ? static_cast<std::size_t>(interval->low) : 0;
}

// c = U_alpha + 1 with the critical values of U, two-sided 5 %: Mann & Whitney (1947) as printed in
// Siegel, Nonparametric Statistics, table K.
TEST(ShiftInterval, CriticalValuesArePublishedOnes) {
  EXPECT_EQ(rank_of(3, 5, 0.95), 0u + 1);
  EXPECT_EQ(rank_of(4, 4, 0.95), 0u + 1);
  EXPECT_EQ(rank_of(5, 5, 0.95), 2u + 1);
  EXPECT_EQ(rank_of(6, 6, 0.95), 5u + 1);
  EXPECT_EQ(rank_of(8, 8, 0.95), 13u + 1);
  EXPECT_EQ(rank_of(10, 10, 0.95), 23u + 1);
  EXPECT_EQ(rank_of(10, 20, 0.95), 55u + 1);
  EXPECT_EQ(rank_of(15, 15, 0.95), 64u + 1);
  EXPECT_EQ(rank_of(20, 20, 0.95), 127u + 1);
}

TEST(ShiftInterval, AbsentWhereEvenTheWholeRangeCoversLess) {
  EXPECT_EQ(rank_of(3, 3, 0.95), 0u);  // 1 - 2 / 20 = 0.9
  EXPECT_EQ(rank_of(3, 3, 0.9), 1u);
  EXPECT_FALSE(shift_interval({}, {}, 0.5).has_value());
}

// Enumerates all ways to choose which of the m + n ranks are the candidate's.
TEST(ShiftInterval, ConfidenceIsThatOfTheEnumeration) {
  const std::size_t m = 4;
  const std::size_t n = 5;
  const std::vector<double> base = {0.1, 0.5, 0.2, 0.9};
  const std::vector<double> candidate = {0.3, 0.8, 0.4, 1.5, 1.1};
  const auto interval = shift_interval(base, candidate, 0.8);
  ASSERT_TRUE(interval.has_value());
  std::size_t rank = rank_of(m, n, 0.8);
  std::size_t inside = 0;
  std::size_t all = 0;
  for (unsigned pattern = 0; pattern < 1U << (m + n); ++pattern) {
    if (static_cast<std::size_t>(__builtin_popcount(pattern)) != n) continue;
    std::size_t u = 0;  // pairs in which the candidate's value is larger
    for (std::size_t i = 0; i < m + n; ++i) {
      for (std::size_t j = 0; j < i; ++j) u += (pattern >> i & 1U) == 1 && (pattern >> j & 1U) == 0;
    }
    ++all;
    inside += u >= rank && u <= m * n - rank ? 1 : 0;
  }
  EXPECT_NEAR(interval->confidence, static_cast<double>(inside) / static_cast<double>(all), 1e-12);
}

TEST(Shift, IsTheMedianOfAllDifferences) {
  const std::vector<double> base = {1, 2};
  const std::vector<double> candidate = {4, 8};
  EXPECT_DOUBLE_EQ(*shift(base, candidate), 4.5);  // 2 3 6 7
  EXPECT_FALSE(shift(base, {}).has_value());
}

TEST(ShiftInterval, CoversTheTrueShiftAsOftenAsItSays) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  int covered = 0;
  double confidence = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> base(5);
    std::vector<double> candidate(6);
    for (double& x : base) x = normal(random);
    for (double& x : candidate) x = normal(random) + 0.7;
    const auto interval = shift_interval(base, candidate, 0.9);
    ASSERT_TRUE(interval.has_value());
    confidence = interval->confidence;
    covered += interval->low <= 0.7 && 0.7 <= interval->high ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(covered) / kRounds, confidence, 0.02);
}

}  // namespace
}  // namespace bench
