// SPDX-License-Identifier: Apache-2.0
// Attributes CUDA calls under `bench profile` to operators. A call, and its work on a device,
// belong to the ranges that were open on its thread when it began. This class is filled from the
// recorded sessions and then queried in the order of the spool. The spool is sorted by time, so
// each call is visited once.
#pragma once

#include "base/units.hpp"
#include "profiler/attribute.hpp"
#include "profiler/gpu/gpu_record.hpp"
#include "profiler/nvtx/window.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

// The owner of calls: a layer, an operator of a framework, or both.
struct GpuHolder {
  OperatorExecution owner;
  Attributes facts;  // facts about the operator, copied to its kernels
};

enum class ProfilerSwitch { start, stop };  // cudaProfilerStart, cudaProfilerStop
struct ProfilerCall {
  Nanoseconds at{0};
  ProfilerSwitch what = ProfilerSwitch::start;
};

class GpuLaunches {
 public:
  using Session = std::uint32_t;
  using HolderId = std::uint32_t;
  static constexpr HolderId kUnattributed = 0;  // known to be outside every layer and operator

  // `window` must outlive this object.
  explicit GpuLaunches(const CaptureWindow& window) : window_(window) {}

  // Phase 1: add what was recorded. Calls without a correlation put no work on a device.
  Session add_session(std::int64_t pid);
  void add(Session session, const GpuApiCall& call);
  void sort();

  // Phase 2: walk along the spool. These functions concern calls that began before `until` and have
  // no holder yet.
  std::optional<ProfilerCall> next_profiler_call(std::int64_t pid, Nanoseconds until);
  bool needs_holder(std::int64_t pid, std::int64_t tid, Nanoseconds until) const;
  std::vector<std::int64_t> awaiting_threads(std::int64_t pid, Nanoseconds until) const;
  std::vector<std::int64_t> processes() const;
  HolderId add(GpuHolder holder);
  // Assigns these calls to `holder`, except those outside the window.
  void assign_holder(std::int64_t pid, std::int64_t tid, Nanoseconds until, HolderId holder,
                     const WindowState& window);
  // A program of the process has ended. `window` then classifies its remaining work.
  void end_process(std::int64_t pid, const WindowState& window);
  void finish();

  // Phase 3: query results. verdict() returns nullopt if the call is unknown.
  struct Verdict {
    bool inside = true;  // whether it is inside the window
    HolderId holder = kUnattributed;
  };
  std::optional<Verdict> verdict(Session session, std::uint64_t correlation) const;
  bool window_contains(std::int64_t pid, Nanoseconds at) const;
  const GpuHolder& holder(HolderId id) const { return holders_[id - 1]; }
  // Owners of the session's calls; key: id of the holder.
  OperatorExecutions executions(Session session) const;

 private:
  static constexpr HolderId kOutside = ~HolderId{0};
  struct Call {
    Nanoseconds start{0};
    std::uint64_t correlation = 0;
    Session session = 0;
    HolderId holder = kUnattributed;
  };
  struct Thread {
    std::vector<Call> calls;  // sorted by start
    std::size_t next = 0;     // index of the next call to assign
  };
  struct Switches {
    std::vector<ProfilerCall> calls;
    std::size_t next = 0;
  };
  using CallHolder = std::pair<std::uint64_t, HolderId>;  // correlation and its holder
  static bool waits(const Thread& thread, Nanoseconds until) {
    return thread.next < thread.calls.size() && thread.calls[thread.next].start < until;
  }

  const CaptureWindow& window_;
  std::vector<std::int64_t> pids_;                                   // index: session
  std::map<std::pair<std::int64_t, std::int64_t>, Thread> threads_;  // key: process and thread
  std::map<std::int64_t, Switches> switches_;                        // key: process
  std::map<std::int64_t, std::vector<WindowState>> windows_;         // key: process
  std::vector<GpuHolder> holders_;
  std::vector<std::vector<CallHolder>> holders_by_session_;  // index: session; sorted
};

}  // namespace bench
