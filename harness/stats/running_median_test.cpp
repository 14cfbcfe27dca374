// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/running_median.hpp"

#include "harness/stats/summary.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bench {
namespace {

TEST(RunningMedianTest, OfNothingIsAbsent) { EXPECT_FALSE(RunningMedian().value()); }

TEST(RunningMedianTest, EqualsTheMedianOfAllSoFarWhateverTheirOrder) {
  RunningMedian running;
  std::vector<double> all;
  std::int64_t value = 17;
  for (int i = 0; i < 200; ++i) {
    value = (value * 7919 + 104729) % 1009;  // repeats some values, in mixed order
    running.add(value);
    all.push_back(static_cast<double>(value));
    ASSERT_EQ(running.value(), static_cast<std::int64_t>(std::floor(*median(all)))) << i;
  }
  EXPECT_EQ(running.size(), 200U);
}

TEST(RunningMedianTest, WithAWindowEqualsTheMedianOfTheLatest) {
  constexpr std::size_t kWindow = 7;
  RunningMedian running(kWindow);
  std::vector<double> latest;
  std::int64_t value = 17;
  for (int i = 0; i < 200; ++i) {
    value = (value * 7919 + 104729) % 11;  // repeats many values, in mixed order
    running.add(value);
    latest.push_back(static_cast<double>(value));
    if (latest.size() > kWindow) latest.erase(latest.begin());
    ASSERT_EQ(running.value(), static_cast<std::int64_t>(std::floor(*median(latest)))) << i;
  }
  EXPECT_EQ(running.size(), kWindow);
}

}  // namespace
}  // namespace bench
