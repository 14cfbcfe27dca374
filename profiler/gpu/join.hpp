// SPDX-License-Identifier: Apache-2.0
// A recorded session as activities: which operator each kernel, copy and call belongs to, when it
// was asked for, how it was launched, and whether the record is complete enough to be believed.
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

// Whether a note says how many kernels are of no known operator: not where nothing tells of
// operators.
enum class GpuOwnership { expected, unknown };

struct GpuJoinOptions {
  // A group that is not recorded has no rows: `device` are kernels, copies, fills, waits,
  // overheads and the counters gpu_busy, unfinished_kernels, sm_clock (Hz) and power (W); `api`
  // calls of runtime and driver and the counter concurrency (of calls, at most one a thread);
  // `memory` allocations and the counters device_live_bytes and device_other_bytes
  // (reading_counters.hpp).
  std::set<RecordGroup> groups = {RecordGroup::operators, RecordGroup::api, RecordGroup::memory,
                                  RecordGroup::device};
  Nanoseconds shift{0};  // added to every time, see clock_shift
  // When the session ended, on its clock: no record may end later. nullopt: unknown.
  std::optional<Nanoseconds> now;
  GpuOwnership ownership = GpuOwnership::expected;
  // Names the allocations that are the tool's own; absent ones are a library's, or of the role
  // that they bear.
  std::function<std::optional<GpuAllocationTag>(const GpuAllocation&)> tag_of;
};

struct GpuJoin {
  // By start, longer ones first where starts are equal.
  //   kernel, memcpy, memset: on the track of their device and stream, tid being the launching
  //     thread (0: unknown), with case, layer, direction, op and iteration of their operator;
  //     correlation as of the launching call; wait_ns from when they were queued, or asked for.
  //     Kernels have flops and bytes as of kernel_work.hpp, `auxiliary` says what they prepare.
  //     Without a measured time, or with one that is days away from the call: an instant at the
  //     call.
  //   synchronisation: a slice of the waiting thread, wait_ns being its length where the thread
  //     was blocked.
  //   api, overhead: on their thread.
  //   allocation: from allocation to release, on the track of its device; never released: no
  //     duration.
  std::vector<Activity> activities;
  // Why nothing of this may be compared or gated; empty: the pass counts.
  std::vector<std::string> void_reasons;
  std::vector<std::string> notes;  // what a reader should know besides
  // Of device_other_bytes, by device; absent: unknown, or not recorded.
  std::map<std::int64_t, GpuMemorySource> memory_sources;
  std::int64_t kernels = 0;
  std::int64_t unattributed_kernels = 0;  // shown, but of no known operator
  // External ids in whose calls code was loaded or compiled: their times are no steady state.
  std::set<std::uint64_t> cold;
};

GpuJoin join_gpu_session(const GpuSession& session, const GpuJoinOptions& options = {});

// What to add to times of `from`, so that they are on the clock of `to`. 0 within one machine that
// was not restarted, but for the error of reading two clocks: there it need not be asked for.
Nanoseconds clock_shift(const GpuClockPair& from, const GpuClockPair& to);

}  // namespace bench
