// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/running_median.hpp"

#include "harness/stats/median.hpp"

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
    value = (value * 7919 + 104729) % 1009;  // repeats some, in no order
    running.add(value);
    all.push_back(static_cast<double>(value));
    ASSERT_EQ(running.value(), static_cast<std::int64_t>(std::floor(*median(all)))) << i;
  }
  EXPECT_EQ(running.size(), 200U);
}

}  // namespace
}  // namespace bench
