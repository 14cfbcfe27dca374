// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_tracks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <type_traits>

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

}  // namespace
}  // namespace bench
