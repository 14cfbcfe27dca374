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
};

GpuJoin join_gpu_session(const GpuSession& session, const GpuJoinOptions& options = {});

// Returns the offset that converts times of `from` to the clock of `to`. On one machine without a
// restart it is 0, apart from the error of reading two clocks. There the caller need not use it.
Nanoseconds clock_shift(const GpuClockPair& from, const GpuClockPair& to);

}  // namespace bench
