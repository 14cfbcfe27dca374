// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_tracks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <type_traits>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;

Activity on_process(std::int64_t pid, const std::string& case_id) {
  Activity activity;
  activity.track.pid = activity.track.tid = pid;
  activity.case_id = case_id;
  return activity;
}

std::vector<std::string> process_names(const TraceTracks& tracks) {
  std::vector<std::string> names;
  tracks.describe([&](std::string_view event, std::int64_t, std::int64_t, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (event == "process_name") names.push_back(value);
    }
  });
  return names;
}

// The names by the sort indices of their processes.
std::vector<std::string> names_in_order(const TraceTracks& tracks) {
  std::map<std::int64_t, std::string> names;  // by pid
  std::map<std::int64_t, std::int64_t> pids;  // by sort index
  tracks.describe([&](std::string_view event, std::int64_t pid, std::int64_t, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      if (event == "process_name") names[pid] = value;
    } else if (event == "process_sort_index") {
      pids[value] = pid;
    }
  });
  std::vector<std::string> ordered;
  for (const auto& [index, pid] : pids) ordered.push_back(names.at(pid));
  return ordered;
}

// Each of 38 cases was called `process 26384`.
TEST(TraceTracks, AProcessThatRunsOneCaseIsNamedAfterIt) {
  TraceTracks tracks;
  for (const Activity& activity :
       {on_process(100, ""), on_process(100, "conv/a"), on_process(100, "conv/a"),
        on_process(200, "conv/b"), on_process(300, "")})
    tracks.index_of(activity);
  EXPECT_THAT(process_names(tracks),
              ElementsAre("conv/a (process 100)", "conv/b (process 200)", "process 300"));
}

// It was called `base 100`, and a process of several cases `process 200`.
TEST(TraceTracks, AProcessIsNamedForItsSideAndCases) {
  TraceTracks tracks;
  Activity base = on_process(100, "conv/a");
  base.attributes.set(Attribute::process_name, std::string("base"));
  Activity stored = on_process(-1, "conv/a");
  stored.attributes.set(Attribute::process_name, std::string("stored"));
  Activity python = on_process(300, "");
  python.attributes.set(Attribute::process_name, std::string("python3"));
  for (const Activity& activity :
       {base, on_process(200, "conv/a"), on_process(200, "conv/b"), on_process(200, "conv/a"),
        on_process(200, "conv/c"), python, stored})
    tracks.index_of(activity);
  EXPECT_THAT(process_names(tracks),
              ElementsAre("base, conv/a (process 100)", "conv/a and 2 others (process 200)",
                          "python3 (process 300)", "stored, conv/a"));
}

// The kernels of a device have no case.
TEST(TraceTracks, ADeviceIsNamedForTheCaseOfItsProcessAndFollowsIt) {
  TraceTracks tracks;
  Activity kernel = on_process(100, "");
  kernel.track.device = 0;
  kernel.track.stream = 7;
  for (const Activity& activity : {on_process(100, "conv/a"), on_process(200, "conv/b"), kernel})
    tracks.index_of(activity);
  EXPECT_THAT(names_in_order(tracks),
              ElementsAre("conv/a (process 100)", "device 0 of conv/a (process 100)",
                          "conv/b (process 200)"));
}

// Two profiles of two cases: the sides of a case were apart.
TEST(TraceTracks, ProcessesOfOneCaseAreNeighbours) {
  TraceTracks tracks;
  for (const Activity& activity : {on_process(400, "conv/a"), on_process(300, "conv/b"),
                                   on_process(200, "conv/a"), on_process(100, "conv/b")})
    tracks.index_of(activity);
  EXPECT_THAT(names_in_order(tracks), ElementsAre("conv/a (process 400)", "conv/a (process 200)",
                                                  "conv/b (process 300)", "conv/b (process 100)"));
}

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

// Each new track was compared with all others, so a file of many streams took minutes.
TEST(TraceTracks, StreamsOfADeviceAreTracksHoweverManyThereAre) {
  TraceTracks tracks;
  constexpr std::int64_t kStreams = 100'000;
  Activity kernel;
  kernel.kind = ActivityKind::kernel;
  for (std::int64_t i = 0; i < kStreams; ++i) {
    kernel.track = {7, i, 0, i};
    EXPECT_EQ(tracks.index_of(kernel), static_cast<std::uint32_t>(i));
  }
  kernel.track = {7, 1, 0, 5};  // another thread launches into it
  EXPECT_EQ(tracks.index_of(kernel), 5U);
}

}  // namespace
}  // namespace bench
