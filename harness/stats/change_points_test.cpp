// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/change_points.hpp"

#include "base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Normal values by Box and Muller's method, the same on every platform.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double next() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  // Mostly small and never below 0, now and then ten times as large: what a busy machine adds.
  double next_disturbance() { return -std::log(uniform()) * (uniform() < 0.1 ? 10 : 1); }

 private:
  double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) * 0x1p-53; }
  SplitMix random_;
};

struct Level {
  int runs;
  double value;
};

std::vector<double> series(const std::vector<Level>& levels, double sigma, std::uint64_t seed = 1) {
  Noise noise(seed);
  std::vector<double> values;
  for (const Level& level : levels) {
    for (int i = 0; i < level.runs; ++i) values.push_back(level.value + sigma * noise.next());
  }
  return values;
}

std::vector<ChangePoint> changes_in(const std::vector<double>& values,
                                    const SegmentationOptions& options = {}) {
  return change_points(values, strongest_change(values, options.test), options);
}

std::vector<std::size_t> positions(const std::vector<double>& values,
                                   const SegmentationOptions& options = {}) {
  std::vector<std::size_t> found;
  for (const ChangePoint& change : changes_in(values, options)) found.push_back(change.index);
  return found;
}

// The two sides 0 0 0 | 1 1 1: only 2 of the 20 orders are as extreme, so p is near 0.1.
TEST(ChangePoints, SixValuesByHand) {
  const auto strongest = strongest_change(std::vector<double>{0, 0, 0, 1, 1, 1}, {});
  ASSERT_TRUE(strongest.has_value());
  EXPECT_EQ(strongest->index, 3u);
  EXPECT_EQ(strongest->effect, 1);
  EXPECT_NEAR(strongest->p_value, 0.1, 0.04);
}

TEST(ChangePoints, AStepIsFoundAtItsFirstRun) {
  const std::vector<double> values = series({{12, 0}, {8, 0.05}}, 0.005, 2);
  const std::vector<ChangePoint> found = changes_in(values);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 12u);
  EXPECT_NEAR(found[0].effect, 0.05, 0.005);
  EXPECT_LT(found[0].p_value, 0.001);
}

TEST(ChangePoints, SeveralStepsAreFoundInTheirOrder) {
  EXPECT_THAT(positions(series({{20, 0}, {15, 0.05}, {15, 0.02}, {20, 0.09}}, 0.005)),
              ElementsAre(20, 35, 50));
}

// A division into two parts alone does not see this: the second part mixes both levels.
TEST(ChangePoints, AStepThatIsUndoneSoonIsFound) {
  EXPECT_THAT(positions(series({{16, 0}, {4, 0.05}, {10, 0}}, 0.003)), ElementsAre(16, 20));
}

TEST(ChangePoints, OneOrTwoSlowRunsAreNoChange) {
  std::vector<double> values = series({{20, 0}}, 0.003);
  values[11] = 0.5;
  EXPECT_THAT(positions(values), IsEmpty());
  values[12] = 0.5;
  EXPECT_THAT(positions(values), IsEmpty());
}

TEST(ChangePoints, ShortSeriesHaveNone) {
  EXPECT_THAT(positions({}), IsEmpty());
  EXPECT_FALSE(strongest_change(std::vector<double>{0, 0, 0, 9, 9}, {}).has_value());
  EXPECT_THAT(positions({0, 0, 0, 9, 9, 9}), IsEmpty());  // 0.1 is not below any sensible level
}

TEST(ChangePoints, EqualValuesAreNoChange) {
  EXPECT_THAT(positions(std::vector<double>(40, 3.5)), IsEmpty());
  EXPECT_EQ(strongest_change(std::vector<double>(40, 3.5), {})->p_value, 1);
  // A coarse clock: two values in no order.
  std::vector<double> coarse;
  for (int i = 0; i < 30; ++i) coarse.push_back(i * 7 % 3 == 0 ? 1 : 2);
  EXPECT_THAT(positions(coarse), IsEmpty());
  std::vector<double> step(10, 1.0);
  step.insert(step.end(), 10, 2.0);
  EXPECT_THAT(positions(step), ElementsAre(10));
}

TEST(ChangePoints, SmallStepsAreJoinedAgain) {
  const std::vector<double> values = series({{20, 0}, {20, 0.004}, {20, 0.05}}, 0.001);
  EXPECT_THAT(positions(values), ElementsAre(20, 40));
  SegmentationOptions options;
  options.min_effect = 0.01;
  const std::vector<ChangePoint> found = changes_in(values, options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].index, 40u);
  EXPECT_NEAR(found[0].effect, 0.048, 0.001);  // against the median of both levels before
}

TEST(ChangePoints, TheSameSeriesGivesTheSameAnswer) {
  const std::vector<double> values = series({{10, 0}, {10, 0.01}}, 0.008, 5);
  EXPECT_EQ(strongest_change(values, {})->p_value, strongest_change(values, {})->p_value);
}

TEST(ChangePoints, ALongSeriesIsSearched) {
  EXPECT_THAT(positions(series({{64, 0}, {64, 0.02}}, 0.005)), ElementsAre(64));
}

// The fraction of unchanged series in which the test finds a change point. The significance level
// bounds it for any distribution: 3 standard deviations of 1,000 series at 5 % are 2.1 %.
TEST(ChangePoints, FalseAlarmsStayBelowTheLevel) {
  constexpr int kSeries = 1000;
  constexpr double kLevel = 0.05;
  PermutationOptions options;
  options.permutations = 199;
  // The test stops at 10 extreme orders: p is then at least 10 / 199, which is above kLevel.
  options.max_extreme = 10;
  for (const bool disturbed : {false, true}) {
    Noise noise(7);
    int alarms = 0;
    for (int number = 0; number < kSeries; ++number) {
      std::vector<double> values(static_cast<std::size_t>(8 + number % 17));
      for (double& value : values) value = disturbed ? noise.next_disturbance() : noise.next();
      alarms += static_cast<int>(strongest_change(values, options)->p_value <= kLevel);
    }
    EXPECT_LT(alarms, kSeries * 0.071) << disturbed;
    EXPECT_GT(alarms, kSeries * 0.029) << disturbed;
  }
}

TEST(ChangePoints, AStepOfThreeDeviationsIsFoundNearlyAlways) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const std::vector<double> values = series({{15, 0}, {10, 0.03}}, 0.01, seed);
    found += static_cast<int>(strongest_change(values, {})->p_value <= 0.01);
  }
  EXPECT_GE(found, 97);
}

TEST(ChangePoints, ALineIsGradualAndAStepIsNot) {
  Noise noise(3);
  std::vector<double> line;
  for (int i = 0; i < 24; ++i) line.push_back(0.002 * i + 0.002 * noise.next());
  EXPECT_TRUE(is_gradual(line, 12));
  EXPECT_FALSE(is_gradual(series({{12, 0}, {12, 0.05}}, 0.002), 12));
}

TEST(UpwardTrend, OrdersByHand) {
  // One of 5! = 120 orders is ascending, and one of 4! = 24.
  EXPECT_NEAR(upward_trend_p_value(std::vector<double>{1, 2, 3, 4, 5}, {}), 1.0 / 120, 0.005);
  EXPECT_NEAR(upward_trend_p_value(std::vector<double>{1, 2, 3, 4}, {}), 1.0 / 24, 0.012);
  EXPECT_EQ(upward_trend_p_value(std::vector<double>{5, 4, 3, 2, 1}, {}), 1);
  EXPECT_EQ(upward_trend_p_value(std::vector<double>(9, 2.0), {}), 1);
  // 1 1 2 2: the values allow 6 orders.
  EXPECT_NEAR(upward_trend_p_value(std::vector<double>{1, 1, 2, 2}, {}), 1.0 / 6, 0.04);
}

TEST(UpwardTrend, ACreepIsSeenThroughNoiseThatHidesItsSteps) {
  Noise noise(11);
  std::vector<double> values;
  for (int i = 0; i < 16; ++i) values.push_back(0.002 * i + 0.003 * noise.next());
  EXPECT_LT(upward_trend_p_value(values, {}), 0.001);
}

}  // namespace
}  // namespace bench
