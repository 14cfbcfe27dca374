// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/process_spans.hpp"

#include <algorithm>

namespace bench {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Activity make_process_activity(std::int64_t pid, std::string_view program, Nanoseconds first,
                               Nanoseconds last) {
  Activity activity;
  activity.kind = ActivityKind::process;
  activity.name = program.empty() ? "(unknown program)" : std::string(file_name(program));
  activity.start = first;
  activity.duration = last - first;
  activity.track.pid = activity.track.tid = pid;
  if (!program.empty()) activity.attributes.set(Attribute::process_name, file_name(program));
  return activity;
}

ProcessSpans::ProcessSpans(std::optional<ProgramTimes> program) : program_(program) {}

std::optional<Activity> ProcessSpans::begin(std::int64_t pid, std::string_view program,
                                            Nanoseconds at) {
  std::optional<Activity> earlier;
  if (const auto found = spans_.find(pid); found != spans_.end() && found->second.has_ended) {
    earlier = make_activity(pid, found->second);
    spans_.erase(found);
  }
  see(pid, at);
  spans_[pid].program = program;
  return earlier;
}

void ProcessSpans::see(std::int64_t pid, Nanoseconds at) {
  const auto [found, is_new] = spans_.try_emplace(pid);
  Span& span = found->second;
  if (is_new) {
    span.first = span.last = at;
    span.is_first = !has_first_;
    has_first_ = true;
  }
  // Threads may write slightly out of order.
  span.first = std::min(span.first, at);
  span.last = std::max(span.last, at);
}

void ProcessSpans::fork(std::int64_t pid, std::int64_t parent) {
  const auto found = spans_.find(parent);
  if (found != spans_.end()) spans_[pid].program = found->second.program;
}

void ProcessSpans::name(std::int64_t pid, std::string_view program) {
  std::string& known = spans_[pid].program;
  if (known.empty()) known = program;
}

void ProcessSpans::end(std::int64_t pid, const CpuTime& cpu) {
  spans_[pid].has_ended = true;
  spans_[pid].cpu = cpu;
}

std::vector<Activity> ProcessSpans::finish() {
  std::vector<Activity> activities;
  for (const auto& [pid, span] : spans_) activities.push_back(make_activity(pid, span));
  spans_.clear();
  return activities;
}

Activity ProcessSpans::make_activity(std::int64_t pid, const Span& span) const {
  Nanoseconds first = span.first;
  Nanoseconds last = span.last;
  const bool is_of_program = span.is_first && program_ && program_->start <= first;
  if (is_of_program) {
    first = program_->start;
    last = std::max(last, program_->end);
  }
  Activity activity = make_process_activity(pid, span.program, first, last);
  if (is_of_program) {
    activity.attributes.set(Attribute::loaded_ns, std::int64_t{(span.first - first).count()});
  }
  const auto set = [&](Attribute attribute, const std::optional<Nanoseconds>& time) {
    if (time) activity.attributes.set(attribute, std::int64_t{time->count()});
  };
  set(Attribute::cpu_ns, span.cpu.all);
  set(Attribute::kernel_ns, span.cpu.kernel);
  return activity;
}

}  // namespace bench
