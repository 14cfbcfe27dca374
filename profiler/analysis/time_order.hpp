// SPDX-License-Identifier: Apache-2.0
// Checks the times of a profile against each other: each activity within its process, and within
// the activity around it.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/launch_matching.hpp"
#include "profiler/analysis/self_time.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace bench::analysis {

// The error of times on the host: oneDNN states its times in microseconds.
inline constexpr Nanoseconds kHostClockError{2'000};

struct TimeOrderFindings {
  std::int64_t timed = 0;      // activities with a duration
  std::int64_t reversed = 0;   // of these, activities that end before they start
  std::int64_t nested = 0;     // activities that should nest
  Contradictions crossing;     // of these, activities that begin in one and end after it
  std::int64_t backwards = 0;  // of these, records that come after what encloses them
  Nanoseconds extent{0};       // time of the processes, or of what they recorded
  std::int64_t processes = 0;  // processes with a known start and end
  Contradictions before_start, after_end;  // processes with activities outside of that time
};

// Accepts activities in the order of files. Memory grows with the number of processes and tracks,
// each up to a bound.
class TimeOrder {
 public:
  TimeOrder();
  void add(const Activity& activity);
  TimeOrderFindings finish();

 private:
  struct Process {
    std::optional<Nanoseconds> begin, end;   // as the profile states them
    std::optional<Nanoseconds> first, last;  // times of its activities
  };
  void add_to_process(const Activity& activity);
  void check_nesting(const Activity& activity);

  TimeOrderFindings findings_;
  std::map<std::int64_t, Process> processes_;
  SelfTimes nesting_;
};

}  // namespace bench::analysis
