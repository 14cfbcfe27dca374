// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/group.hpp"

#include <gtest/gtest.h>

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
