// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/launch_matching.hpp"

#include "profiler/analysis/saturating.hpp"

#include <algorithm>
#include <span>

namespace bench::analysis {
namespace {

struct CallName {
  std::string_view beginning;
  std::optional<LaunchKind> kind;
};

// The first row that matches decides. A function of the host that a stream calls is not work of the
// device.
constexpr std::array<CallName, 19> kCallNames = {{
    {"cudaLaunchHostFunc", std::nullopt},
    {"cuLaunchHostFunc", std::nullopt},
    {"hipLaunchHostFunc", std::nullopt},
    {"cudaLaunch", LaunchKind::kernel},
    {"cuLaunch", LaunchKind::kernel},
    {"hipLaunch", LaunchKind::kernel},
    {"hipExtLaunch", LaunchKind::kernel},
    {"hipModuleLaunch", LaunchKind::kernel},
    {"hipExtModuleLaunch", LaunchKind::kernel},
    {"hipHccModuleLaunch", LaunchKind::kernel},
    {"cudaMemcpy", LaunchKind::copy},
    {"cuMemcpy", LaunchKind::copy},
    {"hipMemcpy", LaunchKind::copy},
    {"cudaMemset", LaunchKind::fill},
    {"cuMemset", LaunchKind::fill},
    {"hipMemset", LaunchKind::fill},
    {"cudaGraphLaunch", LaunchKind::graph},
    {"cuGraphLaunch", LaunchKind::graph},
    {"hipGraphLaunch", LaunchKind::graph},
}};

// How tracers name copies to the host.
constexpr std::array<std::string_view, 2> kToHost = {"device_to_host", "DtoH"};

constexpr std::array<std::string_view, 3> kCaptureBegins = {
    "cudaStreamBeginCapture", "cuStreamBeginCapture", "hipStreamBeginCapture"};
constexpr std::array<std::string_view, 3> kCaptureEnds = {
    "cudaStreamEndCapture", "cuStreamEndCapture", "hipStreamEndCapture"};
// More captures than a program has; malformed files must not use up memory.
constexpr std::size_t kMaxCaptures = 10'000;

bool begins_with_one_of(std::string_view text, std::span<const std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return text.starts_with(one); });
}

bool is_device_work(ActivityKind kind) {
  return kind == ActivityKind::kernel || kind == ActivityKind::memcpy ||
         kind == ActivityKind::memset;
}

// A bound needs several launches: one may have waited for anything.
constexpr std::size_t kMinLaunchesOfBound = 8;

}  // namespace

std::optional<LaunchKind> find_launch_kind(std::string_view call) {
  const auto* const found = std::ranges::find_if(
      kCallNames, [&](const CallName& row) { return call.starts_with(row.beginning); });
  return found == kCallNames.end() ? std::nullopt : found->kind;
}

void LaunchMatcher::add(const Activity& activity) {
  if (activity.kind == ActivityKind::api) add_call(activity);
  if (is_device_work(activity.kind)) add_record(activity);
}

LaunchMatcher::Launch* LaunchMatcher::find(const Activity& activity) {
  const Key key{activity.track.pid, *activity.correlation};
  if (launches_.size() < limit_) return &launches_[key];
  const auto found = launches_.find(key);
  if (found != launches_.end()) return &found->second;
  ++unchecked_;
  return nullptr;
}

void LaunchMatcher::add_call(const Activity& call) {
  std::vector<Capture>& captures = captures_[call.track.pid];
  if (begins_with_one_of(call.name, kCaptureBegins) && captures.size() < kMaxCaptures)
    captures.push_back({call.start, std::nullopt});
  if (begins_with_one_of(call.name, kCaptureEnds)) {
    // Captures of several threads overlap; the union of their times counts.
    for (Capture& capture : captures) {
      if (!capture.end && capture.begin <= call.start) capture.end = call.start;
    }
  }
  if (!call.correlation || *call.correlation == 0) return;
  Launch* const launch = find(call);
  if (launch == nullptr) return;
  const auto kind = find_launch_kind(call.name);
  // A call of the runtime and the driver's call inside it have one correlation.
  if (!kind) {
    if (launch->call == CallState::none) launch->call = CallState::other;
    return;
  }
  const bool is_first = launch->call == CallState::none || launch->call == CallState::other;
  const Nanoseconds end = saturating_sum(call.start, call.duration.value_or(Nanoseconds(0)));
  launch->call_start = is_first ? call.start : std::min(launch->call_start, call.start);
  launch->call_end = is_first ? end : std::max(launch->call_end, end);
  if (is_first) launch->kind = *kind;
  // The tracer states a return value other than success.
  const bool is_failed = call.attributes.find(Attribute::reason) != nullptr;
  const bool is_blocking = kind == LaunchKind::copy && call.name.find("Async") == std::string::npos;
  const CallState state = is_failed     ? CallState::failed
                          : is_blocking ? CallState::blocking_launch
                                        : CallState::launch;
  launch->call = is_first ? state : std::max(launch->call, state);
}

void LaunchMatcher::add_record(const Activity& record) {
  ++records_;
  if (!record.duration) ++untimed_;
  if (!record.correlation || *record.correlation == 0) {
    ++unrelated_;
    return;
  }
  Launch* const launch = find(record);
  if (launch == nullptr) return;
  ++launch->records;
  if (!record.duration) return;
  const Nanoseconds end = saturating_sum(record.start, *record.duration);
  launch->work_start = launch->is_timed ? std::min(launch->work_start, record.start) : record.start;
  launch->work_end = launch->is_timed ? std::max(launch->work_end, end) : end;
  launch->is_timed = true;
  launch->is_to_host = std::ranges::any_of(kToHost, [&](std::string_view direction) {
    return record.name.find(direction) != std::string::npos;
  });
}

// What a stream captures becomes a part of a graph and does not run.
bool LaunchMatcher::is_captured(const Key& key, const Launch& launch) const {
  const auto found = captures_.find(key.pid);
  if (found == captures_.end()) return false;
  return std::ranges::any_of(found->second, [&](const Capture& capture) {
    return launch.call_start >= capture.begin &&
           (!capture.end || launch.call_start <= *capture.end);
  });
}

// Returns the launches that succeeded, in the order of their calls.
std::vector<const LaunchMatcher::Entry*> LaunchMatcher::sort_calls() const {
  std::vector<const Entry*> calls;
  for (const Entry& entry : launches_) {
    const CallState state = entry.second.call;
    if (state == CallState::launch || state == CallState::blocking_launch) calls.push_back(&entry);
  }
  std::ranges::sort(calls, [](const Entry* a, const Entry* b) {
    return std::pair(a->second.call_start, a->first.correlation) <
           std::pair(b->second.call_start, b->first.correlation);
  });
  return calls;
}

// A copy to the host that is not asynchronous returns after the copy has ended. Other copies may
// return before.
bool LaunchMatcher::is_awaited(const Launch& launch) {
  return launch.call == CallState::blocking_launch && launch.is_to_host;
}

void LaunchMatcher::narrow(ClockBounds& bounds, const Launch& launch) {
  const Nanoseconds before = saturating_difference(launch.work_start, launch.call_start);
  bounds.at_most = std::min(bounds.at_most.value_or(before), before);
  if (!is_awaited(launch)) return;
  const Nanoseconds after = saturating_difference(launch.work_end, launch.call_end);
  bounds.at_least = std::max(bounds.at_least.value_or(after), after);
}

void LaunchMatcher::contradict(Contradictions& found, Nanoseconds by) {
  if (by <= kDeviceClockError) return;
  ++found.count;
  found.largest = std::max(found.largest, by);
}

void LaunchMatcher::count(const Launch& launch, LaunchMatch& match) {
  LaunchCount& kind = match.kinds[static_cast<std::size_t>(launch.kind)];
  ++kind.calls;
  if (launch.records > 0) {
    ++kind.found;
  } else {
    if (kind.first_missing == 0) kind.first_missing = kind.calls;
    kind.last_missing = kind.calls;
  }
  if (!launch.is_timed) return;
  contradict(match.early, saturating_difference(launch.call_start, launch.work_start));
  if (is_awaited(launch))
    contradict(match.late, saturating_difference(launch.work_end, launch.call_end));
}

LaunchMatch LaunchMatcher::finish() const {
  LaunchMatch match;
  match.records = records_;
  match.untimed = untimed_;
  match.unchecked = unchecked_;
  match.without_call = unrelated_;
  for (const auto& [key, launch] : launches_) {
    match.has_calls = match.has_calls || launch.call != CallState::none;
    if (launch.call == CallState::none) match.without_call += launch.records;
  }
  std::vector<const Launch*> timed;
  for (const Entry* entry : sort_calls()) {
    const Launch& launch = entry->second;
    if (launch.records == 0 && is_captured(entry->first, launch)) continue;
    count(launch, match);
    if (launch.is_timed) timed.push_back(&launch);
  }
  const std::size_t quarter = timed.size() / 4;
  if (quarter < kMinLaunchesOfBound) return match;
  for (std::size_t i = 0; i < quarter; ++i) {
    narrow(match.begin, *timed[i]);
    narrow(match.end, *timed[timed.size() - 1 - i]);
  }
  return match;
}

}  // namespace bench::analysis
