// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_tracks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(TraceTracks, AProcessWithANameOrSeveralCasesIsNotNamedAfterACase) {
  TraceTracks tracks;
  Activity base = on_process(100, "conv/a");
  base.attributes.set(Attribute::process_name, std::string("base"));
  for (const Activity& activity :
       {base, on_process(200, "conv/a"), on_process(200, "conv/b"), on_process(200, "conv/a")})
    tracks.index_of(activity);
  EXPECT_THAT(process_names(tracks), ElementsAre("base 100", "process 200"));
}

}  // namespace
}  // namespace bench
