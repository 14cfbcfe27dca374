// SPDX-License-Identifier: Apache-2.0
// Whose the calls of CUDA below `bench profile` are: of the ranges that were open on their thread
// when they began, and what they put on a device is so too. Filled from the recorded sessions, then
// asked and answered in the order of the spool, which is sorted by time: each call is looked at
// once.
#pragma once

#include "base/units.hpp"
#include "profiler/attribute.hpp"
#include "profiler/capture/window.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

// What calls belong to: a layer, an operator of a framework or both.
struct GpuHolder {
  GpuOwner owner;
  Attributes facts;  // of the operator: its kernels have them too
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
  static constexpr HolderId kNobody = 0;  // known to be outside of every layer and operator

  // The window outlives this.
  explicit GpuLaunches(const CaptureWindow& window) : window_(window) {}

  // First: what was recorded. Calls without a correlation put nothing on a device.
  Session add_session(std::int64_t pid);
  void add(Session session, const GpuApiCall& call);
  void sort();

  // Then, along the spool: calls that began before `until` and are not given away yet.
  std::optional<ProfilerCall> next_profiler_call(std::int64_t pid, Nanoseconds until);
  bool awaits(std::int64_t pid, std::int64_t tid, Nanoseconds until) const;
  std::vector<std::int64_t> awaiting_threads(std::int64_t pid, Nanoseconds until) const;
  std::vector<std::int64_t> processes() const;
  HolderId add(GpuHolder holder);
  // Gives them to `holder`, but for those outside of the window.
  void give(std::int64_t pid, std::int64_t tid, Nanoseconds until, HolderId holder,
            const WindowState& window);
  // A program of the process has ended: what else it did is in its window or not.
  void end_process(std::int64_t pid, const WindowState& window);
  void finish();

  // At last: absent where the call is not known.
  struct Verdict {
    bool inside = true;  // of the window
    HolderId holder = kNobody;
  };
  std::optional<Verdict> verdict(Session session, std::uint64_t correlation) const;
  bool window_contains(std::int64_t pid, Nanoseconds at) const;
  const GpuHolder& holder(HolderId id) const { return holders_[id - 1]; }
  // Of calls of the session, by their number.
  GpuOwners owners(Session session) const;

 private:
  static constexpr HolderId kOutside = ~HolderId{0};
  struct Call {
    Nanoseconds start{0};
    std::uint64_t correlation = 0;
    Session session = 0;
    HolderId holder = kNobody;
  };
  struct Thread {
    std::vector<Call> calls;  // by start
    std::size_t next = 0;     // to give away
  };
  struct Switches {
    std::vector<ProfilerCall> calls;
    std::size_t next = 0;
  };
  using Answer = std::pair<std::uint64_t, HolderId>;  // of a correlation
  static bool waits(const Thread& thread, Nanoseconds until) {
    return thread.next < thread.calls.size() && thread.calls[thread.next].start < until;
  }

  const CaptureWindow& window_;
  std::vector<std::int64_t> pids_;                                   // by session
  std::map<std::pair<std::int64_t, std::int64_t>, Thread> threads_;  // by process and thread
  std::map<std::int64_t, Switches> switches_;                        // by process
  std::map<std::int64_t, std::vector<WindowState>> windows_;         // by process
  std::vector<GpuHolder> holders_;
  std::vector<std::vector<Answer>> answers_;  // by session, sorted
};

}  // namespace bench
