// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/gpu_launches.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace bench {
namespace {

struct SwitchName {
  std::string_view call;
  ProfilerSwitch what;
};
constexpr std::array<SwitchName, 4> kSwitches = {{{"cudaProfilerStart", ProfilerSwitch::start},
                                                  {"cuProfilerStart", ProfilerSwitch::start},
                                                  {"cudaProfilerStop", ProfilerSwitch::stop},
                                                  {"cuProfilerStop", ProfilerSwitch::stop}}};

}  // namespace

GpuLaunches::Session GpuLaunches::add_session(std::int64_t pid) {
  pids_.push_back(pid);
  holders_by_session_.emplace_back();
  return static_cast<Session>(pids_.size() - 1);
}

// The calls that switch the profiler take long themselves, so they are not part of the window.
void GpuLaunches::add(Session session, const GpuApiCall& call) {
  const std::int64_t pid = pids_[session];
  const auto found = std::ranges::find(kSwitches, call.name, &SwitchName::call);
  if (found != kSwitches.end()) {
    const bool starts = found->what == ProfilerSwitch::start;
    switches_[pid].calls.push_back({starts ? call.time.end : call.time.start, found->what});
  }
  if (!call.correlation) return;
  threads_[{pid, call.thread}].calls.push_back({call.time.start, *call.correlation, session});
}

void GpuLaunches::sort() {
  for (auto& [key, thread] : threads_) std::ranges::sort(thread.calls, {}, &Call::start);
  for (auto& [pid, switches] : switches_) {
    std::ranges::stable_sort(switches.calls, {}, &ProfilerCall::at);
  }
}

std::optional<ProfilerCall> GpuLaunches::next_profiler_call(std::int64_t pid, Nanoseconds until) {
  const auto found = switches_.find(pid);
  if (found == switches_.end()) return std::nullopt;
  Switches& switches = found->second;
  if (switches.next == switches.calls.size() || switches.calls[switches.next].at >= until) {
    return std::nullopt;
  }
  return switches.calls[switches.next++];
}

bool GpuLaunches::needs_holder(std::int64_t pid, std::int64_t tid, Nanoseconds until) const {
  const auto thread = threads_.find({pid, tid});
  return thread != threads_.end() && waits(thread->second, until);
}

std::vector<std::int64_t> GpuLaunches::awaiting_threads(std::int64_t pid, Nanoseconds until) const {
  std::vector<std::int64_t> tids;
  auto thread = threads_.lower_bound({pid, std::numeric_limits<std::int64_t>::min()});
  for (; thread != threads_.end() && thread->first.first == pid; ++thread) {
    if (waits(thread->second, until)) tids.push_back(thread->first.second);
  }
  return tids;
}

std::vector<std::int64_t> GpuLaunches::processes() const {
  std::vector<std::int64_t> pids = pids_;
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

GpuLaunches::HolderId GpuLaunches::add(GpuHolder holder) {
  holders_.push_back(std::move(holder));
  return static_cast<HolderId>(holders_.size());
}

void GpuLaunches::assign_holder(std::int64_t pid, std::int64_t tid, Nanoseconds until,
                                HolderId holder, const WindowState& window) {
  const auto found = threads_.find({pid, tid});
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  for (; waits(thread, until); ++thread.next) {
    Call& call = thread.calls[thread.next];
    call.holder = window.contains(call.start) ? holder : kOutside;
  }
}

void GpuLaunches::end_process(std::int64_t pid, const WindowState& window) {
  windows_[pid].push_back(window);
}

void GpuLaunches::finish() {
  for (const auto& [key, thread] : threads_) {
    for (const Call& call : thread.calls) {
      holders_by_session_[call.session].emplace_back(call.correlation, call.holder);
    }
  }
  threads_.clear();
  for (std::vector<CallHolder>& holders : holders_by_session_) std::ranges::sort(holders);
}

std::optional<GpuLaunches::Verdict> GpuLaunches::verdict(Session session,
                                                         std::uint64_t correlation) const {
  const std::vector<CallHolder>& holders = holders_by_session_[session];
  const auto found = std::ranges::lower_bound(holders, correlation, {}, &CallHolder::first);
  if (found == holders.end() || found->first != correlation) return std::nullopt;
  if (found->second == kOutside) return Verdict{false, kUnattributed};
  return Verdict{true, found->second};
}

bool GpuLaunches::window_contains(std::int64_t pid, Nanoseconds at) const {
  const auto known = windows_.find(pid);
  if (known == windows_.end()) return WindowState(window_).contains(at);
  return std::ranges::any_of(known->second,
                             [&](const WindowState& window) { return window.contains(at); });
}

OperatorExecutions GpuLaunches::executions(Session session) const {
  OperatorExecutions executions;
  for (const auto& [correlation, id] : holders_by_session_[session]) {
    if (id != kUnattributed && id != kOutside) executions.try_emplace(id, holder(id).owner);
  }
  return executions;
}

}  // namespace bench
