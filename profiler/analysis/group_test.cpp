// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/group.hpp"

#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench::analysis {
namespace {

TEST(TimeStatistics, AreExactButForQuantiles) {
  TimeStatistics times;
  EXPECT_EQ(times.mean(), std::nullopt);
  EXPECT_EQ(times.quantile(0.5), std::nullopt);
  EXPECT_EQ(times.aggregate(Aggregate::sum), std::nullopt);
  for (const int time : {100, 400, 200, 301}) times.add(Nanoseconds(time));
  EXPECT_EQ(times.count(), 4);
  EXPECT_EQ(times.aggregate(Aggregate::sum), Nanoseconds(1001));
  EXPECT_EQ(times.aggregate(Aggregate::min), Nanoseconds(100));
  EXPECT_EQ(times.aggregate(Aggregate::max), Nanoseconds(400));
  EXPECT_EQ(times.aggregate(Aggregate::mean), Nanoseconds(250));  // 250.25
  EXPECT_NEAR(static_cast<double>(times.quantile(0.5)->count()), 200, 2);
}

TEST(TimeStatistics, TheDeviationNeedsTwoDurationsAndLosesNoDigitsToALargeMean) {
  TimeStatistics times;
  EXPECT_EQ(times.deviation(), std::nullopt);
  const std::int64_t large = std::int64_t{1} << 52;
  times.add(Nanoseconds(large + 2));
  EXPECT_EQ(times.deviation(), std::nullopt);
  for (const int time : {4, 4, 4, 5, 5, 7, 9}) times.add(Nanoseconds(large + time));
  EXPECT_EQ(times.deviation(), Nanoseconds(2));  // sqrt(32 / 7) = 2.14
}

TEST(TimeStatistics, QuantilesStayWithinTheExtremes) {
  TimeStatistics times;
  times.add(Nanoseconds(1001));
  EXPECT_EQ(times.quantile(0.5), Nanoseconds(1001));
  EXPECT_EQ(times.quantile(0.95), Nanoseconds(1001));
}

TEST(TimeStatistics, ASumBeyondTheRangeStaysAtItsEnd) {
  TimeStatistics times;
  for (int i = 0; i < 3; ++i) times.add(Nanoseconds(std::numeric_limits<std::int64_t>::max() / 2));
  EXPECT_EQ(times.total().count(), std::numeric_limits<std::int64_t>::max());
}

TEST(NumberStatistics, OfIntegersAreExact) {
  NumberStatistics numbers;
  EXPECT_EQ(numbers.aggregate(Aggregate::max), std::nullopt);
  constexpr std::int64_t kBig = (std::int64_t{1} << 60) + 1;
  numbers.add(kBig);
  numbers.add(std::int64_t{1});
  EXPECT_EQ(numbers.whole_sum, kBig + 1);
  EXPECT_EQ(numbers.whole_max, kBig);
  EXPECT_EQ(numbers.aggregate(Aggregate::min), 1);
  EXPECT_EQ(numbers.count, 2);
  numbers.add(0.5);
  EXPECT_EQ(numbers.whole_count, 2);
  EXPECT_EQ(numbers.aggregate(Aggregate::min), 0.5);
}

TEST(RatioStatistics, UseOnlyPairsOfWorkAndNonzeroTime) {
  RatioStatistics rates(kNanosecondsPerSecond);
  EXPECT_EQ(rates.aggregate(Aggregate::sum), std::nullopt);
  rates.add(1000, 0);  // a duration of 0 gives no rate
  EXPECT_EQ(rates.aggregate(Aggregate::sum), std::nullopt);
  rates.add(1000, 1000);
  rates.add(1000, 3000);
  EXPECT_EQ(rates.aggregate(Aggregate::sum), 0.5e9);  // 2000 in 4000 ns
  EXPECT_EQ(rates.aggregate(Aggregate::mean), 0.5e9);
  EXPECT_EQ(rates.aggregate(Aggregate::max), 1e9);
  EXPECT_DOUBLE_EQ(*rates.aggregate(Aggregate::min), 1e9 / 3);
}

}  // namespace
}  // namespace bench::analysis

namespace bench {
namespace {

void expect_close_to_exact(std::vector<std::int64_t> values) {
  QuantileSketch sketch;
  for (const std::int64_t value : values) sketch.add(value);
  std::sort(values.begin(), values.end());
  for (double q = 0; q <= 1; q += 0.01) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]);
    const auto found = static_cast<double>(sketch.quantile(q).value());
    // Rounding the middle of a bucket to an integer loses up to half a unit.
    EXPECT_NEAR(found, exact, QuantileSketch::kAccuracy * exact + 0.5) << q;
  }
}

TEST(QuantileSketchTest, IsWithinOnePercentOfTheExactQuantiles) {
  std::vector<std::int64_t> uniform, wide, bimodal;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double random = static_cast<double>(mix(i) >> 11) / static_cast<double>(1ull << 53);
    uniform.push_back(static_cast<std::int64_t>(1'000'000 * random));
    wide.push_back(static_cast<std::int64_t>(std::exp(43 * random)));
    bimodal.push_back(i % 10 == 0 ? 1'000'000 + static_cast<std::int64_t>(i)
                                  : 1000 + static_cast<std::int64_t>(i % 7));
  }
  expect_close_to_exact(uniform);
  expect_close_to_exact(wide);
  expect_close_to_exact(bimodal);
}

TEST(QuantileSketchTest, SmallSamplesAreTheirValues) {
  QuantileSketch sketch;
  EXPECT_FALSE(sketch.quantile(0.5).has_value());
  sketch.add(0);
  EXPECT_EQ(sketch.quantile(0.5), 0);
  EXPECT_EQ(sketch.quantile(1), 0);
  expect_close_to_exact({7});
  expect_close_to_exact({1, 2, 3, 4, 5, 1000});
}

TEST(QuantileSketchTest, TakesTheWholeRange) {
  QuantileSketch sketch;
  sketch.add(-5);
  sketch.add(std::numeric_limits<std::int64_t>::max() / 2);
  EXPECT_EQ(sketch.count(), 2);
  EXPECT_EQ(sketch.quantile(0), 0);
  const auto largest = static_cast<double>(sketch.quantile(1).value());
  EXPECT_NEAR(largest, 4.6e18, 0.011 * 4.6e18);
}

}  // namespace
}  // namespace bench
