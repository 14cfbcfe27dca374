// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/signed_rank.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace bench {
namespace {

using testing::ElementsAre;

// Differences of n pairs whose positive ranks sum to `sum`: chosen greedily from the largest.
std::vector<double> with_rank_sum(int n, int sum) {
  std::vector<double> differences;
  for (int rank = n; rank >= 1; --rank) {
    const bool positive = sum >= rank;
    if (positive) sum -= rank;
    differences.push_back(positive ? rank : -rank);
  }
  EXPECT_EQ(sum, 0);
  return differences;
}

// Critical values: the largest T with P(W <= T) <= alpha, one-sided. Wilcoxon & Wilcox, Some Rapid
// Approximate Statistical Procedures (1964), table 2.
struct Row {
  int n;
  int at_5, at_2_5, at_1, at_0_5;  // per cent; -1: no value
};
constexpr Row kPublished[] = {
    {5, 0, -1, -1, -1},       {6, 2, 0, -1, -1},        {7, 3, 2, 0, -1},
    {8, 5, 3, 1, 0},          {9, 8, 5, 3, 1},          {10, 10, 8, 5, 3},
    {11, 13, 10, 7, 5},       {12, 17, 13, 9, 7},       {13, 21, 17, 12, 9},
    {14, 25, 21, 15, 12},     {15, 30, 25, 19, 15},     {16, 35, 29, 23, 19},
    {17, 41, 34, 27, 23},     {18, 47, 40, 32, 27},     {19, 53, 46, 37, 32},
    {20, 60, 52, 43, 37},     {21, 67, 58, 49, 42},     {22, 75, 65, 55, 48},
    {23, 83, 73, 62, 54},     {24, 91, 81, 69, 61},     {25, 100, 89, 76, 68},
    {30, 151, 137, 120, 109}, {40, 286, 264, 238, 220}, {50, 466, 434, 397, 373},
};

int critical_value(int n, double alpha) {
  int value = -1;
  while (signed_rank_p(with_rank_sum(n, value + 1)).less <= alpha) ++value;
  return value;
}

TEST(SignedRank, CriticalValuesArePublishedOnes) {
  for (const Row& row : kPublished) {
    EXPECT_EQ(critical_value(row.n, 0.05), row.at_5) << row.n;
    EXPECT_EQ(critical_value(row.n, 0.025), row.at_2_5) << row.n;
    EXPECT_EQ(critical_value(row.n, 0.01), row.at_1) << row.n;
    EXPECT_EQ(critical_value(row.n, 0.005), row.at_0_5) << row.n;
  }
}

TEST(SignedRank, SmallCasesByHand) {
  const double all_positive[] = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(signed_rank_p(all_positive).greater, 1.0 / 32);
  EXPECT_DOUBLE_EQ(signed_rank_p(all_positive).less, 1);
  const double one_negative[] = {-1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(signed_rank_p(one_negative).greater, 2.0 / 32);
  EXPECT_DOUBLE_EQ(signed_rank_p({}).greater, 1);
  const double zeros[] = {0, 0, 0};
  EXPECT_DOUBLE_EQ(signed_rank_p(zeros).greater, 1);
  const double with_zero[] = {0, 1, 2};
  EXPECT_DOUBLE_EQ(signed_rank_p(with_zero).greater, 0.25);
  // Ranks 1.5, 1.5, 3: W = 4.5 among the sums 0, 1.5, 1.5, 3, 3, 4.5, 4.5, 6.
  const double tied[] = {-1, 1, 2};
  EXPECT_DOUBLE_EQ(signed_rank_p(tied).greater, 3.0 / 8);
}

// Enumerates every sign pattern of the ranks.
double p_by_enumeration(const std::vector<double>& differences) {
  std::vector<double> ranks;
  double observed = 0;
  for (const double x : differences) {
    if (x == 0) continue;
    double smaller = 0;
    double equal = 0;
    for (const double y : differences) {
      if (y == 0) continue;
      smaller += std::abs(y) < std::abs(x) ? 1 : 0;
      equal += std::abs(y) == std::abs(x) ? 1 : 0;
    }
    ranks.push_back(smaller + (equal + 1) / 2);
    if (x > 0) observed += ranks.back();
  }
  const unsigned patterns = 1U << ranks.size();
  unsigned reached = 0;
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    double sum = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) sum += (pattern >> i & 1U) != 0 ? ranks[i] : 0;
    reached += sum >= observed ? 1 : 0;
  }
  return static_cast<double>(reached) / patterns;
}

TEST(SignedRank, EqualsTheEnumerationOfAllSigns) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> differences(5 + random() % 9);
    // Few distinct values give ties and zeros.
    for (double& x : differences) x = static_cast<double>(random() % 11) - 4;
    EXPECT_DOUBLE_EQ(signed_rank_p(differences).greater, p_by_enumeration(differences));
  }
}

TEST(HodgesLehmann, WalshAveragesByHand) {
  const double differences[] = {1, 4, 2};
  EXPECT_THAT(walsh_averages(differences), ElementsAre(1, 1.5, 2, 2.5, 3, 4));
  EXPECT_DOUBLE_EQ(*HodgesLehmann(differences).estimate(), 2.25);
  EXPECT_FALSE(HodgesLehmann({}).estimate().has_value());
}

// Hollander & Wolfe, table 3.1 (Hamilton's depression scale, 9 patients): estimate -0.46, 96 %
// interval (-0.786, -0.010).
TEST(HodgesLehmann, PublishedExample) {
  const double differences[] = {-0.952, 0.147,  -1.022, -0.430, -0.620,
                                -0.590, -0.490, 0.080,  -0.010};
  EXPECT_NEAR(*HodgesLehmann(differences).estimate(), -0.460, 1e-9);
  EXPECT_NEAR(*HodgesLehmann(differences).bounds(0.02).low, -0.786, 1e-9);
  EXPECT_NEAR(*HodgesLehmann(differences).bounds(0.02).high, -0.010, 1e-9);
}

TEST(HodgesLehmann, BoundsNeedEnoughPairs) {
  const double four[] = {1, 2, 3, 4};
  EXPECT_FALSE(HodgesLehmann(four).bounds(0.05).low.has_value());
  const double five[] = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(*HodgesLehmann(five).bounds(0.05).low, 1);
  EXPECT_DOUBLE_EQ(*HodgesLehmann(five).bounds(0.05).high, 5);
}

// A bound excludes 0 exactly if the test rejects.
TEST(HodgesLehmann, BoundsAndTestAgree) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0.3, 1);
  int rejected = 0;
  for (int round = 0; round < 500; ++round) {
    std::vector<double> differences(5 + random() % 40);
    for (double& x : differences) x = normal(random);
    const auto bound = HodgesLehmann(differences).bounds(0.05).low;
    ASSERT_TRUE(bound.has_value());
    const bool rejects = signed_rank_p(differences).greater <= 0.05;
    EXPECT_EQ(*bound > 0, rejects);
    rejected += rejects ? 1 : 0;
  }
  EXPECT_GT(rejected, 50);
  EXPECT_LT(rejected, 450);
}

}  // namespace
}  // namespace bench
