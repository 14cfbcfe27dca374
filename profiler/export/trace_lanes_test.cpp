// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace bench {
namespace {

struct Interval {
  std::int64_t start, end;
};

bool cross(const Interval& a, const Interval& b) {
  return (a.start < b.start && b.start < a.end && a.end < b.end) ||
         (b.start < a.start && a.start < b.end && b.end < a.end);
}

// Returns the number of lanes, after checking that no intervals cross on a lane.
template <class Lanes>
std::size_t count_lanes(const std::vector<Interval>& intervals) {
  Lanes lanes;
  std::map<std::size_t, std::vector<Interval>> placed;
  for (const Interval& interval : intervals) {
    std::vector<Interval>& lane = placed[lanes.place(3, interval.start, interval.end)];
    for (const Interval& other : lane) EXPECT_FALSE(cross(interval, other));
    lane.push_back(interval);
  }
  return placed.size();
}

std::vector<Interval> random_intervals(unsigned seed) {
  std::mt19937 random(seed);  // NOLINT: a fixed seed on purpose
  std::vector<Interval> intervals;
  for (int i = 0; i < 300; ++i) {
    const auto start = static_cast<std::int64_t>(random() % 500);
    intervals.push_back({start, start + static_cast<std::int64_t>(random() % 60)});
  }
  return intervals;
}

void sort_by_start(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
}

TEST(TraceLanes, NothingCrossesOnALane) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<Interval> intervals = random_intervals(seed);
    count_lanes<ArrivalLanes>(intervals);
    sort_by_start(intervals);
    count_lanes<SortedLanes>(intervals);
  }
}

TEST(TraceLanes, NestedIntervalsNeedOneLane) {
  std::vector<Interval> nested = {{0, 100}, {0, 50},  {0, 0},     {10, 50},  {50, 100},
                                  {50, 50}, {60, 70}, {100, 120}, {120, 120}};
  sort_by_start(nested);
  EXPECT_EQ(count_lanes<SortedLanes>(nested), 1u);
  // In the order of recording: by end, inner intervals first.
  const std::vector<Interval> ended = {{10, 50},  {0, 50},  {60, 70},
                                       {50, 100}, {0, 100}, {100, 120}};
  EXPECT_EQ(count_lanes<ArrivalLanes>(ended), 1u);
}

TEST(TraceLanes, OverlapsGoToTheFirstLaneThatIsFree) {
  SortedLanes lanes;
  EXPECT_EQ(lanes.place(0, 0, 10), 0u);
  EXPECT_EQ(lanes.place(0, 5, 15), 1u);
  EXPECT_EQ(lanes.place(0, 6, 12), 1u);
  EXPECT_EQ(lanes.place(0, 10, 20), 0u);
  EXPECT_EQ(lanes.place(1, 5, 15), 0u);
}

TEST(TraceLanes, ALongIntervalEnclosesForgottenOnes) {
  ArrivalLanes lanes;
  constexpr std::int64_t kCount = 70'000;  // more than a lane remembers
  for (std::int64_t i = 0; i < kCount; ++i) ASSERT_EQ(lanes.place(0, 10 * i + 10, 10 * i + 15), 0u);
  EXPECT_EQ(lanes.place(0, 42, 48), 1u);
  EXPECT_EQ(lanes.place(0, 0, 10 * kCount + 20), 0u);
}

}  // namespace
}  // namespace bench
