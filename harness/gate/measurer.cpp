// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/measurer.hpp"

#include "harness/judge/evidence_file.hpp"
#include "harness/result/device_samples.hpp"
#include "harness/result/measured.hpp"
#include "harness/run/case_step.hpp"
#include "harness/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

ExactProperties make_properties(const PreparedReply& prepared) {
  CaseRecord record;
  record.implementation = prepared.implementation;
  record.memory = prepared.memory;
  record.details = prepared.details;
  return exact_properties(record);
}

std::string_view to_string(MeasurementRequest::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"duet", "confirmation", "window", "base"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

GateMeasurer::GateMeasurer(const GateTask& task, const GateParts& parts, Clock& clock)
    : task_(task),
      parts_(parts),
      clock_(clock),
      started_(clock.now()),
      candidate_(parts.start_candidate, parts.hello, parts.interrupted, clock),
      base_(parts.start_base, parts.hello, parts.interrupted, clock),
      workers_(base_, candidate_, parts.pause),
      levels_(parts.levels) {}

bool GateMeasurer::out_of_time() const {
  return task_.budget && clock_.now() - started_ >= *task_.budget;
}

Result<Decision> GateMeasurer::settle(GateEvidence& evidence) {
  for (;;) {
    Decision decision = decide(evidence);
    if (decision.wanted.empty()) {
      workers_.finish();
      return decision;
    }
    if (stopped()) {
      workers_.finish();
      evidence.stopped = is_interrupted() ? StopCause::interruption : StopCause::budget;
      return decide(evidence);
    }
    BENCH_RETURN_IF_ERROR(measure(std::move(decision.wanted), evidence));
  }
}

void GateMeasurer::tell_progress(const CaseEvidence& entry, MeasurementRequest::Kind kind,
                                 std::size_t left) const {
  if (!parts_.progress) return;
  GateStep step{entry.id(), to_string(kind), left};
  if (done_ > 0) {
    const Nanoseconds pace = (clock_.now() - started_) / static_cast<std::int64_t>(done_);
    step.remaining = pace * static_cast<std::int64_t>(left);
  }
  parts_.progress(step);
}

Nanoseconds GateMeasurer::spent_on_samples() const {
  const Accounting base = base_.accounting();
  const Accounting candidate = candidate_.accounting();
  return base.timed + base.warmup + candidate.timed + candidate.warmup;
}

// Measures the most urgent requests, interleaved.
Status GateMeasurer::measure(std::vector<MeasurementRequest> wanted, GateEvidence& evidence) {
  std::size_t left = 0;
  for (const MeasurementRequest& wish : wanted) left += static_cast<std::size_t>(wish.count);
  wanted.resize(std::min(wanted.size(), kInterleavedCases));
  for (bool any = true; any;) {
    any = false;
    for (MeasurementRequest& wish : wanted) {
      if (wish.count <= 0) continue;
      if (stopped()) return Done{};
      any = true;
      CaseEvidence& entry = evidence.cases[wish.index];
      const bool window = wish.kind == MeasurementRequest::Kind::windows;
      tell_progress(entry, wish.kind, left);
      const std::size_t steps = window ? static_cast<std::size_t>(wish.count) : 1;
      BENCH_RETURN_IF_ERROR(window ? measure_window(wish, entry)
                            : wish.kind == MeasurementRequest::Kind::base
                                ? ask_base(wish, entry)
                                : measure_duet(wish, entry));
      if (window) wish.count = 0;
      done_ += steps;
      left -= steps;
    }
  }
  return Done{};
}

// Layouts are those of the network to which the layer belongs.
Result<ops::InputLayouts> GateMeasurer::find_input_layouts(const Case& spec) {
  if (!layouts_.is_settled(spec)) {
    workers_.finish();
    BENCH_RETURN_IF_ERROR(candidate_.ensure(std::nullopt));
    layouts_.ask(candidate_, spec);
    candidate_.finish();
  }
  return layouts_.input_layouts(spec);
}

Status GateMeasurer::measure_duet(MeasurementRequest& wanted, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[wanted.index];
  --wanted.count;
  Result<ops::InputLayouts> input_layouts = find_input_layouts(spec);
  if (!input_layouts)
    return note_start_failure(wanted, SideFailure::Side::candidate, input_layouts.error(), entry);
  DuetRequest request{&spec, std::move(*input_layouts), task_.seed, task_.seed + ++duets_};
  const auto output = outputs_.find(spec.id);
  if (output != outputs_.end()) request.expected = &output->second;
  request.levels = &levels_;
  DuetResult result = run_duet(workers_, request);
  ExactProperties& exact = entry.candidate.exact;
  if (result.candidate && exact == ExactProperties{}) exact = make_properties(*result.candidate);
  if (result.candidate && output == outputs_.end()) {
    outputs_.emplace(spec.id, std::move(result.candidate->output));
  }
  if (result.base && !entry.base) {
    entry.base = make_properties(*result.base);
    BENCH_RETURN_IF_ERROR(parts_.append(base_side_line(task_.run_id, spec.id, *entry.base)));
  }
  if (result.failure) return note_failure(wanted, std::move(*result.failure), entry);
  if (!result.duet) return Done{};
  Duet duet = std::move(*result.duet);
  duet.run_id = task_.run_id;
  duet.stage = wanted.kind == MeasurementRequest::Kind::confirmation ? Duet::Stage::confirmation
                                                                     : Duet::Stage::first;
  duet.number = static_cast<int>(std::ranges::count(entry.duets, duet.stage, &Duet::stage));
  if (!log_ratio(duet)) {
    return note_failure(
        wanted, {SideFailure::Side::base, Outcome::failed, "its samples took no time"}, entry);
  }
  BENCH_RETURN_IF_ERROR(parts_.append(duet_line(duet)));
  entry.duets.push_back(std::move(duet));
  return Done{};
}

// Finds out whether the base computes a case that the candidate does not compute.
Status GateMeasurer::ask_base(MeasurementRequest& wanted, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[wanted.index];
  wanted.count = 0;
  workers_.finish();
  if (const Status status = base_.ensure(spec.key.threads); !status) {
    return note_start_failure(wanted, SideFailure::Side::base, status.error(), entry);
  }
  PrepareRequest request = prepare_request(spec, task_.seed, {});
  request.check = CheckKind::none;
  auto prepared = base_.ask<PreparedReply>(request, spec.measure.timeout);
  base_.finish();
  if (prepared) {
    entry.base = make_properties(*prepared);
    return parts_.append(base_side_line(task_.run_id, spec.id, *entry.base));
  }
  const RequestFailure& why = prepared.error();
  if (why.cause == RequestFailure::Cause::interruption) return Done{};
  return note_failure(wanted, {SideFailure::Side::base, why.outcome, why.reason}, entry);
}

Status GateMeasurer::note_start_failure(MeasurementRequest& wanted, SideFailure::Side side,
                                        const Error& error, CaseEvidence& entry) {
  if (is_interrupted()) return Done{};
  return note_failure(wanted, {side, Outcome::failed, error.message()}, entry);
}

Status GateMeasurer::note_failure(MeasurementRequest& wanted, SideFailure failure,
                                  CaseEvidence& entry) {
  wanted.count = 0;
  BENCH_RETURN_IF_ERROR(parts_.append(failure_line(task_.run_id, entry.id(), failure)));
  entry.failure = std::move(failure);
  return Done{};
}

Status GateMeasurer::measure_window(MeasurementRequest& wanted, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[wanted.index];
  const Result<ops::InputLayouts> input_layouts = find_input_layouts(spec);
  if (!input_layouts)
    return note_start_failure(wanted, SideFailure::Side::candidate, input_layouts.error(), entry);
  if (const auto last = window_ends_.find(spec.id); last != window_ends_.end()) {
    const Nanoseconds wait = last->second + kWindowGap - clock_.now();
    if (wait > Nanoseconds(0)) parts_.pause(wait);
  }
  Window window{task_.run_id, spec.id, static_cast<int>(entry.windows.size()), {}};
  for (int i = 0; i < wanted.count && !stopped(); ++i) {
    StepRequest request{&spec, i, task_.seed};
    request.input_layouts = *input_layouts;
    request.levels = &levels_;
    const auto output = outputs_.find(spec.id);
    if (output != outputs_.end()) {
      request.check = CheckKind::expected;
      request.expected = &output->second;
    }
    if (const Status status = candidate_.ensure(spec.key.threads); !status) {
      return note_start_failure(wanted, SideFailure::Side::candidate, status.error(), entry);
    }
    StepResult result = run_step(candidate_, request, clock_);
    candidate_.finish();
    if (result.ended) {
      return note_failure(
          wanted,
          {SideFailure::Side::candidate, result.ended->outcome, std::move(result.ended->reason)},
          entry);
    }
    if (result.prepared) outputs_.emplace(spec.id, std::move(result.prepared->output));
    if (!result.record) return Done{};
    if (result.record->samples.empty()) {
      const SampleRemarks& voided = result.record->device.voided;
      return note_failure(
          wanted, {SideFailure::Side::candidate, Outcome::failed, format_discarded(voided)}, entry);
    }
    const ProcessRecord* const process = &*result.record;
    const std::vector<Nanoseconds> counted = judge_samples({&process, 1}).counted.front().samples;
    window.processes.push_back({quantile(counted, 0.25).value(), process->iterations_per_sample});
  }
  window_ends_[spec.id] = clock_.now();
  if (static_cast<int>(window.processes.size()) < wanted.count) return Done{};
  BENCH_RETURN_IF_ERROR(parts_.append(window_line(window)));
  entry.windows.push_back(std::move(window));
  return Done{};
}

DuetProgress duet_progress(RunObserver& observer) {
  return [&observer, done = std::int64_t{0}](const GateStep& step) mutable {
    observer.step(done, done + static_cast<std::int64_t>(step.left),
                  fmt::format("{} of {}", step.what, step.id), step.remaining);
    ++done;
  };
}

}  // namespace bench
