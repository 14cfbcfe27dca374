// SPDX-License-Identifier: Apache-2.0
// The iterations of a profile pass: plain ones, as the timing pass runs them, and recorded ones.
#include "harness/result/trace_details.hpp"
#include "harness/worker/profile_pass_state.hpp"
#include "harness/worker/warmup.hpp"

#include <string>
#include <utility>

namespace bench {

using ops::LibraryOutput;

void ProfilePass::set_collecting(Collecting collecting) {
  const bool none = collecting == Collecting::none;
  ops::Collectors collectors;
  if (!none && switches_.records(RecordGroup::api)) collectors.api = &api_;
  // Kernels keep the collector beyond this call, so that it also receives what they release.
  if (!none) collectors.memory = &memory_;
  context_.backend.observe(collectors);
  const bool prints = !none && capture_ != nullptr;
  if (prints == is_printing_) return;  // setting it again would override the environment's setting
  is_printing_ = prints;
  context_.backend.set_output(prints ? LibraryOutput::creations_and_executions
                                     : LibraryOutput::none);
}

Status ProfilePass::run_iterations() {
  if (!is_announcing()) {
    auto warm =
        warm_up(*rotation_, request_.warmup_iterations, request_.warmup_time, context_.clock);
    if (!warm) return std::move(warm).error();
    BENCH_RETURN_IF_ERROR(measure_overhead_before());
  }
  // The window opens before the first recorded iteration. For a failing case it is not opened,
  // because opening discards the activities of the first run.
  bool is_window_open = is_announcing();
  const auto [first, last] = switches_.iteration_window();
  for (std::int64_t i = 0; i <= last; ++i) {
    if (is_announcing() || i >= first) {
      if (!std::exchange(is_window_open, true)) BENCH_RETURN_IF_ERROR(trace_->open_window());
      BENCH_RETURN_IF_ERROR(record_iteration(i));
    } else if (auto time = plain_iteration(); !time) {
      return std::move(time).error();
    }
  }
  return is_announcing() ? Status(Done{}) : measure_overhead_after();
}

// A trace cannot be switched off between iterations and also slows plain iterations. With a trace,
// profiled iterations are therefore measured before its end and plain ones after it.
Status ProfilePass::measure_overhead_before() {
  return is_tracing() ? overhead_.measure_profiled() : overhead_.measure_half();
}

Status ProfilePass::measure_overhead_after() {
  if (!is_tracing()) return overhead_.measure_half();
  finish_trace();
  return overhead_.measure_plain();
}

Result<ProfilePass::Iteration> ProfilePass::plain_iteration() {
  set_collecting(Collecting::none);
  const Nanoseconds start = context_.clock.now();
  const auto sample = take_sample(*rotation_, 1, context_.clock);
  if (!sample) return Error{rotation_->failure(), "", ""};
  return Iteration{start, *sample};
}

// Leaves its steps in steps_; nothing is recorded yet.
Result<ProfilePass::Iteration> ProfilePass::profiled_iteration() {
  if (!observes_steps()) return plain_iteration();
  set_collecting(Collecting::all);
  steps_->clear();
  ScopeSpec spec;
  spec.case_id = request_.prepare.id;
  const Scope range(nullptr, std::move(spec));
  const Nanoseconds start = context_.clock.now();
  const bool ok = rotation_->run_observed(*steps_);
  if (ok) steps_->execution_ended();
  const Nanoseconds time = context_.clock.now() - start;
  if (!ok) return Error{rotation_->failure(), "", ""};
  return Iteration{start, time};
}

Status ProfilePass::record_iteration(std::int64_t number) {
  Activity range;
  range.kind = ActivityKind::range;
  range.name = "iteration";
  range.attributes.set(Attribute::iteration, number);
  const auto iteration = profiled_iteration();
  if (observes_steps()) {
    BENCH_RETURN_IF_ERROR(steps_->write(number));  // also for a failed iteration
    reply_.attributed += steps_->time_in_steps();
  }
  if (!iteration) return iteration.error();
  if (observes_steps() && steps_->has_unawaited_steps())
    reply_.details[kUnawaitedStepsDetail] = "the host waited only for the end of each iteration";
  range.start = iteration->start;
  range.duration = iteration->duration;
  recorder_.record(std::move(range));
  ++reply_.iterations;
  reply_.wall += iteration->duration;
  return forward();
}

}  // namespace bench
