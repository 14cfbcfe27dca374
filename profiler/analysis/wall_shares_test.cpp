// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/wall_shares.hpp"

#include <gtest/gtest.h>

namespace bench::analysis {
namespace {

TEST(WallShares, AreInProportionAndAddUpExactly) {
  const Durations times = {{"a", Nanoseconds(1)}, {"b", Nanoseconds(1)}, {"c", Nanoseconds(1)}};
  for (const std::int64_t occupied : {1, 2}) {
    const Durations divided = divide_wall(times, Nanoseconds(occupied));
    EXPECT_EQ(sum_durations(divided), Nanoseconds(occupied));
    for (const auto& [name, time] : divided) EXPECT_GE(time, Nanoseconds(0));
  }
  const Durations divided =
      divide_wall({{"a", Nanoseconds(300)}, {"b", Nanoseconds(100)}}, Nanoseconds(200));
  EXPECT_EQ(divided.at("a"), Nanoseconds(150));
  EXPECT_EQ(divided.at("b"), Nanoseconds(50));
}

TEST(WallShares, OneThreadKeepsItsTimes) {
  const Durations times = {{"a", Nanoseconds(3)}, {"b", Nanoseconds(4)}};
  EXPECT_EQ(divide_wall(times, Nanoseconds(7)), times);
  EXPECT_EQ(divide_wall(times, Nanoseconds(100)), times);
  EXPECT_TRUE(divide_wall({}, Nanoseconds(0)).empty());
}

}  // namespace
}  // namespace bench::analysis
