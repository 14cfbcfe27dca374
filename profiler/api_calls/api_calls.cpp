// SPDX-License-Identifier: Apache-2.0
#include "profiler/api_calls/api_calls.hpp"

#include <utility>

namespace bench {

Nanoseconds ApiCalls::begin() {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = recorder_.now();
  count_up(now, Activity{});
  return now;
}

void ApiCalls::end(std::string_view name, Nanoseconds start) {
  const std::lock_guard lock(mutex_);
  const Nanoseconds now = recorder_.now();
  Activity call;
  call.kind = ActivityKind::api;
  call.name = name;
  call.start = start;
  call.duration = now - start;
  count_down(now, Activity{});
  recorder_.record(std::move(call));
}

void ApiCalls::completed(Activity call) {
  const std::lock_guard lock(mutex_);
  call.kind = ActivityKind::api;
  count_up(call.start, call);
  count_down(call.start + call.duration.value_or(Nanoseconds(0)), call);
  recorder_.record(std::move(call));
}

std::int64_t ApiCalls::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void ApiCalls::count_up(Nanoseconds at, const Activity& context) {
  record_counter("calls", ++calls_, at, context);
  record_counter("concurrency", ++in_flight_, at, context);
}

void ApiCalls::count_down(Nanoseconds at, const Activity& context) {
  record_counter("concurrency", --in_flight_, at, context);
}

void ApiCalls::record_counter(std::string_view name, std::int64_t value, Nanoseconds at,
                              const Activity& context) {
  if (!recorder_.is_recording(RecordGroup::api)) return;
  Activity counter = make_counter(name, at, static_cast<double>(value), "1");
  counter.track = context.track;
  counter.case_id = context.case_id;
  counter.scope = context.scope;
  counter.direction = context.direction;
  recorder_.record(std::move(counter), RecordGroup::api);
}

}  // namespace bench
