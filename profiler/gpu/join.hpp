// SPDX-License-Identifier: Apache-2.0
// Converts a recorded session into activities. Determines for each kernel, copy and call its
// operator, when it was requested and how it was launched. Also checks whether the record is
// complete enough to be trusted.
#pragma once

#include "profiler/activity.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/switches.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bench {

struct GpuAllocationTag {
  std::string name, role;
};

// Whether a note reports how many kernels have no known operator. Use `unknown` if nothing in the
// session identifies operators.
enum class GpuOwnership { expected, unknown };

// Whether to derive the counters gpu_busy, unfinished_kernels and concurrency. A caller that joins
// a session in parts skips them: each would concern one part only.
enum class GpuCounters { derive, skip };

// What the join counted, for its notes and the reasons why the session is void. The counts of the
// parts of a session can be added.
struct GpuJoinTally {
  // Records whose order contradicts the two clocks.
  struct Disorder {
    std::int64_t count = 0;
    Nanoseconds max_difference{0};
  };
  std::int64_t unattributed_kernels = 0;
  std::int64_t untimed = 0;  // kernels, copies and memsets
  std::int64_t foreign = 0;  // records on another clock
  Nanoseconds farthest{0};   // largest distance of such a record from its call
  Disorder early, late;      // before the call that requested them; after the end
  std::int64_t unknown_ids = 0;
  std::int64_t unknown_releases = 0;
  std::set<std::int64_t> unknown_devices;

  void add(const GpuJoinTally& part);
};

struct GpuJoinOptions {
  // Only the groups listed here produce activities. `device`: kernels, copies, memsets,
  // synchronisations, overheads and the counters gpu_busy, unfinished_kernels, sm_clock (Hz) and
  // power (W). `api`: runtime and driver calls and the counter concurrency (calls in flight, at
  // most one per thread). `memory`: allocations and the counters device_live_bytes and
  // device_other_bytes (reading_counters.hpp).
  std::set<RecordGroup> groups = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                  RecordGroup::device};
  Nanoseconds shift{0};  // added to every time, see clock_shift
  // When the session ended, on its clock: no record may end later. nullopt if unknown.
  std::optional<Nanoseconds> now;
  GpuOwnership ownership = GpuOwnership::expected;
  GpuCounters counters = GpuCounters::derive;
  // Names the tool's own allocations. If it returns nullopt, the allocation has its own role, or it
  // belongs to a library.
  std::function<std::optional<GpuAllocationTag>(const GpuAllocation&)> find_tag;
};

struct GpuJoin {
  // Sorted by start; at equal starts, longer ones first.
  //   kernel, memcpy, memset: on the track of their device and stream; tid is the launching thread
  //     (0 if unknown). They have the case, layer, direction, op and iteration of their operator.
  //     The correlation is that of the launching call. wait_ns counts from when they were queued,
  //     or from the call. Kernels have flops and bytes according to kernel_work.hpp; `auxiliary`
  //     states what they prepare. Without a measured time, or if it is days away from the call, the
  //     activity is an instant at the call.
  //   synchronisation: on the track of the waiting thread; wait_ns is its duration if the thread
  //     was blocked.
  //   api, overhead: on their thread.
  //   allocation: from allocation to release, on the track of its device; without a duration if it
  //     was never released.
  std::vector<Activity> activities;
  // Reasons why these results must not be compared or gated. If empty, the pass is valid.
  std::vector<std::string> void_reasons;
  std::vector<std::string> notes;  // further information for the reader
  // Memory source of device_other_bytes by device, if it is known and was recorded.
  std::map<std::int64_t, GpuMemorySource> memory_sources;
  std::int64_t kernels = 0;
  std::int64_t unattributed_kernels = 0;  // included, but their operator is unknown
  // External ids of operators whose calls loaded or compiled code. Their times include this cost.
  std::set<std::uint64_t> cold;
  GpuJoinTally tally;
};

// The name of a synchronisation in tables and timelines: "wait for stream 7". `stream` and `device`
// are nullopt if they are unknown.
std::string gpu_wait_name(GpuWaitKind kind, std::optional<std::int64_t> stream,
                          std::optional<std::int64_t> device);

GpuJoin join_gpu_session(const GpuSession& session, const GpuJoinOptions& options = {});

// Adds to `join` what the counts say: reasons why the session is void, and notes. The function
// above does it; this one is for a session that was joined in parts.
void judge_gpu_tally(const GpuJoinTally& tally, const GpuClockPair& clock, GpuOwnership ownership,
                     GpuJoin& join);

// Returns the offset that converts times of `from` to the clock of `to`. On one machine without a
// restart it is 0, apart from the error of reading two clocks. There the caller need not use it.
Nanoseconds clock_shift(const GpuClockPair& from, const GpuClockPair& to);

}  // namespace bench
