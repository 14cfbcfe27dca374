// SPDX-License-Identifier: Apache-2.0
// The iterations of a profile pass: plain ones, as the timing pass runs them, and recorded ones.
#include "harness/worker/profile_pass_state.hpp"
#include "harness/worker/warmup.hpp"

#include <string>
#include <utility>

namespace bench {

using ops::LibraryOutput;

void ProfilePass::set(Collecting collecting) {
  const bool none = collecting == Collecting::none;
  ops::Collectors collectors;
  if (!none && switches_.records(RecordGroup::api)) collectors.api = &api_;
  // Kernels keep the collector beyond this call, so that it also receives what they release.
  if (!none) collectors.memory = &memory_;
  world_.backend.observe(collectors);
  const bool prints = !none && capture_ != nullptr;
  if (prints == prints_) return;  // setting it again would override the environment's setting
  prints_ = prints;
  world_.backend.set_output(prints ? LibraryOutput::creations_and_executions : LibraryOutput::none);
}

Status ProfilePass::run_iterations() {
  if (!announces()) {
    auto warm = warm_up(*rotation_, request_.warmup_iterations, request_.warmup_time, world_.clock);
    if (!warm) return std::move(warm).error();
    BENCH_RETURN_IF_ERROR(measure_cost_before());
  }
  bool recorded = announces();  // for a failing case everything is kept, including its first run
  const auto [first, last] = switches_.iteration_window();
  for (std::int64_t i = 0; i <= last; ++i) {
    if (announces() || i >= first) {
      if (!std::exchange(recorded, true)) BENCH_RETURN_IF_ERROR(trace_->open_window());
      BENCH_RETURN_IF_ERROR(record_iteration(i));
    } else if (auto time = plain_iteration(); !time) {
      return std::move(time).error();
    }
  }
  return announces() ? Status(Done{}) : measure_cost_after();
}

// A trace runs until it ends, and it also slows plain iterations; these therefore run after it.
Status ProfilePass::measure_cost_before() {
  return traces() ? cost_.measure_profiled() : cost_.measure_half();
}

Status ProfilePass::measure_cost_after() {
  if (!traces()) return cost_.measure_half();
  finish_trace();
  return cost_.measure_plain();
}

Result<ProfilePass::Iteration> ProfilePass::plain_iteration() {
  set(Collecting::none);
  const Nanoseconds start = world_.clock.now();
  const auto sample = take_sample(*rotation_, 1, world_.clock);
  if (!sample) return Error{rotation_->failure(), "", ""};
  return Iteration{start, *sample};
}

// Leaves its steps in steps_; nothing is recorded yet.
Result<ProfilePass::Iteration> ProfilePass::profiled_iteration() {
  if (!observes_steps()) return plain_iteration();
  set(Collecting::all);
  steps_->start_over();
  ScopeSpec spec;
  spec.case_id = request_.prepare.id;
  const Scope range(nullptr, std::move(spec));
  const Nanoseconds start = world_.clock.now();
  const bool ok = rotation_->run_observed(*steps_);
  const Nanoseconds time = world_.clock.now() - start;
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
    reply_.attributed += steps_->in_steps();
  }
  if (!iteration) return iteration.error();
  range.start = iteration->start;
  range.duration = iteration->duration;
  recorder_.record(std::move(range));
  ++reply_.iterations;
  reply_.wall += iteration->duration;
  return hand_on();
}

}  // namespace bench
