// SPDX-License-Identifier: Apache-2.0
// Which part of the wall time of the profiled processes a profile shows. A share of what was
// recorded is never given as a share of the process.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

// The length of the union of intervals that come as a stream, in bounded memory.

// Overlaps count once. Above `limit` disjoint intervals, the oldest ones are joined in pairs with
// the gap between them kept as a number. The result stays exact, except if a later interval begins
// or ends within such a pair; then it is too small, by at most the gaps of that pair.
class IntervalUnion {
 public:
  IntervalUnion() = default;
  explicit IntervalUnion(std::size_t limit) : limit_(limit) {}

  // Ignores an interval that is empty or reversed.
  void add(Nanoseconds begin, Nanoseconds end);
  Nanoseconds total() const { return total_; }

 private:
  struct Part {
    Nanoseconds end{0};
    Nanoseconds covered{0};  // less than the length if the part contains gaps
  };
  void join_oldest();

  std::size_t limit_ = 16384;
  std::map<Nanoseconds, Part> parts_;  // key: begin; disjoint
  Nanoseconds total_{0};
};

}  // namespace bench::analysis

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

  void add(const ProcessCoverage& process);
  // Adds the coverage of another program or run, whose processes may have the same numbers.
  void add(const WallCoverage& other);
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

// Divides wall time among rows whose times several threads spent at once.
namespace bench::analysis {

using Durations = std::map<std::string, Nanoseconds>;

Nanoseconds sum_durations(const Durations& durations);

// Divides the wall time `occupied` among rows in proportion to their times, if the sum of these is
// larger because several threads worked at once. The parts then add up to `occupied` exactly.
// Otherwise, returns the times themselves.
Durations divide_wall(const Durations& times, Nanoseconds occupied);

}  // namespace bench::analysis
