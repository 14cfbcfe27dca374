// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time_order.hpp"

#include "profiler/analysis/saturating.hpp"

#include <algorithm>

namespace bench::analysis {
namespace {

// Malformed files must not use up memory.
constexpr std::size_t kMaxCheckedProcesses = 10'000;

// Whether activities of this kind must lie within each other on a thread. Ranges of NVTX that have
// an id may overlap, and so do kernels of one stream that start each other. The time of a creation
// is what oneDNN states; it is placed where oneDNN reported it, tens of microseconds off.
bool must_nest(const Activity& activity) {
  if (!is_executed(activity)) return false;
  if (activity.track.device || !activity.duration || *activity.duration < Nanoseconds(0))
    return false;
  switch (activity.kind) {
    case ActivityKind::operation:
    case ActivityKind::primitive:
    case ActivityKind::api:
      return true;
    case ActivityKind::range:
      return activity.attributes.find(Attribute::iteration) != nullptr;
    default:
      return false;
  }
}

// A buffer and the value of a counter may be older than the recording, and a sample is written
// late.
bool lies_in_process(ActivityKind kind) {
  return kind != ActivityKind::allocation && kind != ActivityKind::counter &&
         kind != ActivityKind::sample && kind != ActivityKind::process;
}

void add_contradiction(Contradictions& found, Nanoseconds by, Nanoseconds error) {
  if (by <= error) return;
  ++found.count;
  found.largest = std::max(found.largest, by);
}

}  // namespace

TimeOrder::TimeOrder()
    : nesting_([](const Activity&, std::optional<Nanoseconds>) { return Status(Done{}); }) {}

void TimeOrder::add(const Activity& activity) {
  if (activity.duration) {
    ++findings_.timed;
    if (*activity.duration < Nanoseconds(0)) ++findings_.reversed;
  }
  add_to_process(activity);
  if (must_nest(activity)) check_nesting(activity);
}

void TimeOrder::add_to_process(const Activity& activity) {
  const bool is_span = activity.kind == ActivityKind::process;
  if (!is_span && !lies_in_process(activity.kind)) return;
  const auto found = processes_.find(activity.track.pid);
  if (found == processes_.end() && processes_.size() >= kMaxCheckedProcesses) return;
  Process& process = found != processes_.end() ? found->second : processes_[activity.track.pid];
  const Nanoseconds end =
      saturating_sum(activity.start, activity.duration.value_or(Nanoseconds(0)));
  auto& first = is_span ? process.begin : process.first;
  auto& last = is_span ? process.end : process.last;
  first = std::min(first.value_or(activity.start), activity.start);
  last = std::max(last.value_or(end), end);
}

// SelfTimes copies what it holds, so it gets only the times.
void TimeOrder::check_nesting(const Activity& activity) {
  ++findings_.nested;
  Activity times;
  times.kind = activity.kind;
  times.start = activity.start;
  times.duration = activity.duration;
  times.track = activity.track;
  static_cast<void>(nesting_.consume(times));  // its next stage never fails
}

TimeOrderFindings TimeOrder::finish() {
  static_cast<void>(nesting_.finish());
  findings_.backwards = nesting_.out_of_order();
  findings_.crossing = {nesting_.crossing().count, nesting_.crossing().largest};
  for (const auto& [pid, process] : processes_) {
    const auto& begin = process.begin ? process.begin : process.first;
    const auto& end = process.end ? process.end : process.last;
    if (begin && end)
      findings_.extent = saturating_sum(findings_.extent, saturating_difference(*end, *begin));
    if (!process.begin || !process.end || !process.first || !process.last) continue;
    ++findings_.processes;
    add_contradiction(findings_.before_start, saturating_difference(*process.begin, *process.first),
                      kHostClockError);
    add_contradiction(findings_.after_end, saturating_difference(*process.last, *process.end),
                      kHostClockError);
  }
  return findings_;
}

}  // namespace bench::analysis
