// SPDX-License-Identifier: Apache-2.0
// Which part of the wall time of the profiled processes a profile shows. A share of what was
// recorded is never given as a share of the process.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/interval_union.hpp"
#include "profiler/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// What the wall time is. processes: the profile states when each process ran. activities: it does
// not; the time from the first to the last activity of each process. unknown: the start times were
// not recorded.
BENCH_ENUM(WallSource, processes, activities, unknown);

struct ProcessCoverage {
  std::int64_t pid = 0;
  std::string name;  // name of the program; empty if unknown
  WallSource source = WallSource::activities;
  Nanoseconds wall{0};  // 0 if unknown
  // Times during which at least one thread was in such an activity. Threads that work at the same
  // time count once, so none of these is longer than the wall time.
  Nanoseconds primitives{0};                    // executed or created
  Nanoseconds recorded{0};                      // any activity on the host that has a duration
  std::map<std::int64_t, Nanoseconds> devices;  // key: GPU; kernels, copies and memsets
  friend bool operator==(const ProcessCoverage&, const ProcessCoverage&) = default;
};

// The sums over all processes that recorded something, or over all if none did: a shell that waits
// for the program does not dilute its share. The wall times of processes that ran at the same time
// are added.
struct WallCoverage {
  WallSource source = WallSource::unknown;  // the least known of all processes
  std::vector<ProcessCoverage> processes;   // sorted by pid
  std::size_t others = 0;                   // processes that are left out
  Nanoseconds wall{0};                      // 0 if unknown
  Nanoseconds primitives{0};
  Nanoseconds recorded{0};
  std::map<std::int64_t, Nanoseconds> devices;
};

// Measures the coverage of the activities that it receives. They may come in any order.
class CoverageSink final : public ActivitySink {
 public:
  // nullptr: activities are only measured, not forwarded.
  explicit CoverageSink(ActivitySink* next = nullptr) : next_(next) {}
  Status consume(const Activity& activity) override;
  WallCoverage coverage(StartTimes starts) const;

 private:
  struct Process {
    std::string name;
    analysis::IntervalUnion spans;  // the process's own
    analysis::IntervalUnion primitives, recorded;
    std::map<std::int64_t, analysis::IntervalUnion> devices;
    std::optional<Nanoseconds> first, last;  // begin and end of all activities
    bool has_span = false;
  };
  static ProcessCoverage measure(std::int64_t pid, const Process& process, StartTimes starts);

  ActivitySink* next_;
  std::map<std::int64_t, Process> processes_;
};

// Returns the answer in sentences: "oneDNN was 24.01 ms of 917.0 ms of wall time, 2.6 %; the rest
// is invisible to this profile." Empty if there is nothing to measure.
std::string describe_coverage(const WallCoverage& coverage);

// Returns "2.6 %"; a part that would be rounded to nothing is "less than 0.1 %".
std::string format_part(Nanoseconds part, Nanoseconds whole);

}  // namespace bench
