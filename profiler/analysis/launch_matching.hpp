// SPDX-License-Identifier: Apache-2.0
// Matches calls that put work on a device with the records of that work. Both have one correlation.
#pragma once

#include "base/enumerators.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bench::analysis {

BENCH_ENUM(LaunchKind, (kernel, "kernel launch"), (copy, "copy"), (fill, "memset"),
           (graph, "graph launch"));
inline constexpr std::size_t kLaunchKinds = enumerator_names<LaunchKind>().size();

// Returns what a call of CUDA or HIP puts on a device: cudaLaunchKernel, cuMemcpyDtoH_v2, ...
std::optional<LaunchKind> find_launch_kind(std::string_view call);

// Times whose order contradicts the two clocks that measured them.
struct Contradictions {
  std::int64_t count = 0;
  Nanoseconds largest{0};
  friend bool operator==(const Contradictions&, const Contradictions&) = default;
};

struct LaunchCount {
  std::int64_t calls = 0;  // without failed calls and those that a graph captured
  std::int64_t found = 0;  // of these, calls with at least one record
  // Numbers of the first and last call without a record, in the order of the calls, from 1.
  std::int64_t first_missing = 0, last_missing = 0;
  friend bool operator==(const LaunchCount&, const LaunchCount&) = default;
};

// How far the clock of a device is ahead of that of the host in one part of a recording, as far as
// launches show: no work begins before its launch, and none ends after the copy that waits for it.
struct ClockBounds {
  std::optional<Nanoseconds> at_most;
  std::optional<Nanoseconds> at_least;
};

struct LaunchMatch {
  std::array<LaunchCount, kLaunchKinds> kinds{};
  std::int64_t records = 0;       // kernels, copies and memsets
  std::int64_t without_call = 0;  // their call is not in the profile
  std::int64_t untimed = 0;       // they have no time
  bool has_calls = false;         // the profile has calls with a correlation
  std::int64_t unchecked = 0;     // calls and records beyond the limit of memory
  // Beyond the clock's error: work that begins before its call, and copies that end after the call
  // that waits for them.
  Contradictions early, late;
  ClockBounds begin, end;  // in the first and the last quarter of the launches
};

// The usual error of device times: the tracer computes them from readings of both clocks.
inline constexpr Nanoseconds kDeviceClockError{2'000};

// Accepts activities in any order. Memory is bounded: about 80 bytes per launch, up to `limit`
// launches.
class LaunchMatcher {
 public:
  static constexpr std::size_t kMaxLaunches = std::size_t{1} << 20;
  explicit LaunchMatcher(std::size_t limit = kMaxLaunches) : limit_(limit) {}
  void add(const Activity& activity);
  LaunchMatch finish() const;

 private:
  struct Key {
    std::int64_t pid;
    std::uint64_t correlation;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      // Correlations are consecutive, so their places are neighbours in the processor's caches.
      return static_cast<std::size_t>(key.correlation) ^
             static_cast<std::size_t>(key.pid) * 0x9E3779B97F4A7C15U;
    }
  };
  enum class CallState : std::uint8_t { none, other, launch, blocking_launch, failed };
  struct Launch {
    Nanoseconds call_start{0}, call_end{0};
    Nanoseconds work_start{0}, work_end{0};
    std::uint32_t records = 0;
    CallState call = CallState::none;
    LaunchKind kind = LaunchKind::kernel;
    bool is_timed = false;  // at least one of its records has a time
    bool is_to_host = false;
  };
  struct Capture {
    Nanoseconds begin{0};
    std::optional<Nanoseconds> end;
  };
  using Entry = std::pair<const Key, Launch>;

  void add_call(const Activity& call);
  void add_record(const Activity& record);
  Launch* find(const Activity& activity);
  static bool is_awaited(const Launch& launch);
  static void narrow(ClockBounds& bounds, const Launch& launch);
  static void contradict(Contradictions& found, Nanoseconds by);
  static void count(const Launch& launch, LaunchMatch& match);
  bool is_captured(const Key& key, const Launch& launch) const;
  std::vector<const Entry*> sort_calls() const;

  std::size_t limit_;
  std::unordered_map<Key, Launch, Hash> launches_;
  std::map<std::int64_t, std::vector<Capture>> captures_;  // key: process
  std::int64_t records_ = 0, untimed_ = 0, unrelated_ = 0, unchecked_ = 0;
};

}  // namespace bench::analysis
