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
#include <map>
#include <string>
#include <utility>

namespace bench {
namespace {

ExactProperties make_properties(const PreparedReply& prepared) {
  CaseRecord record;
  record.implementation = prepared.implementation;
  record.memory = prepared.memory;
  record.details = prepared.details;
  ExactProperties exact = exact_properties(record);
  if (!prepared.choices.empty()) exact.facts[kChoiceFact] = format_choices(prepared.choices);
  return exact;
}

std::string_view step_name(MeasurementRequest::Kind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"duet", "confirmation", "window", "base"};
  static_assert(kNames.size() == enumerator_names<MeasurementRequest::Kind>().size());
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

GateMeasurer::GateMeasurer(const GateTask& task, const GateParts& parts, Clock& clock)
    : task_(task),
      parts_(parts),
      clock_(clock),
      limit_(task.budget, parts.interrupted, clock),
      candidate_(
          parts.start_candidate, parts.hello, [this] { return limit_.must_abort(); }, clock),
      base_(
          parts.start_base, parts.hello, [this] { return limit_.must_abort(); }, clock),
      workers_(base_, candidate_, parts.pause) {}

Result<Decision> GateMeasurer::settle(GateEvidence& evidence) {
  for (;;) {
    Decision decision = decide(evidence);
    if (decision.requests.empty()) {
      workers_.finish();
      return decision;
    }
    if (const auto cause = limit_.stop_cause()) {
      workers_.finish();
      evidence.stopped = cause;
      return decide(evidence);
    }
    BENCH_RETURN_IF_ERROR(measure(std::move(decision.requests), evidence));
  }
}

void GateMeasurer::report_progress(const CaseEvidence& entry, MeasurementRequest::Kind kind,
                                   std::size_t steps_left) const {
  if (!parts_.progress) return;
  GateStep step{entry.id(), step_name(kind), steps_left};
  if (steps_done_ > 0) {
    const Nanoseconds pace = limit_.elapsed() / static_cast<std::int64_t>(steps_done_);
    step.time_left = pace * static_cast<std::int64_t>(steps_left);
  }
  parts_.progress(step);
}

Nanoseconds GateMeasurer::spent_on_samples() const {
  const Accounting base = base_.accounting();
  const Accounting candidate = candidate_.accounting();
  return base.timed + base.warmup + candidate.timed + candidate.warmup;
}

// Measures the most urgent requests, which come first. Takes one duet or window of each in turn.
Status GateMeasurer::measure(std::vector<MeasurementRequest> requests, GateEvidence& evidence) {
  std::size_t steps_left = 0;
  for (const MeasurementRequest& request : requests) {
    steps_left += static_cast<std::size_t>(request.count);
  }
  requests.resize(std::min(requests.size(), kInterleavedCases));
  for (bool has_measured = true; has_measured;) {
    has_measured = false;
    for (MeasurementRequest& request : requests) {
      if (request.count <= 0) continue;
      if (limit_.stop_cause()) return Done{};
      has_measured = true;
      CaseEvidence& entry = evidence.cases[request.index];
      const bool is_window = request.kind == MeasurementRequest::Kind::windows;
      report_progress(entry, request.kind, steps_left);
      const std::size_t steps = is_window ? static_cast<std::size_t>(request.count) : 1;
      BENCH_RETURN_IF_ERROR(is_window ? measure_window(request, entry)
                            : request.kind == MeasurementRequest::Kind::base
                                ? check_base(request, entry)
                                : measure_duet(request, entry));
      steps_done_ += steps;
      steps_left -= steps;
    }
  }
  return Done{};
}

Result<ops::InputLayouts> GateMeasurer::find_input_layouts(const Case& spec) {
  if (!layouts_.is_settled(spec)) {
    workers_.finish();
    BENCH_RETURN_IF_ERROR(candidate_.ensure({}));
    layouts_.ask(candidate_, spec);
    candidate_.finish();
  }
  return layouts_.input_layouts(spec);
}

const std::string& GateMeasurer::choices(SideFailure::Side side, const std::string& id) const {
  static const std::string kNone;
  const auto of_side = choices_.find(side);
  if (of_side == choices_.end()) return kNone;
  const auto found = of_side->second.find(id);
  return found == of_side->second.end() ? kNone : found->second;
}

// The candidate has chosen in its run. A side that has not chosen does so in a worker of its own
// (chooses_by_measuring()), with its own program.
Status GateMeasurer::choose_way(SideFailure::Side side, const ops::InputLayouts& input_layouts,
                                MeasurementRequest& request, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[request.index];
  std::map<std::string, std::string>& known = choices_[side];
  const bool is_base = side == SideFailure::Side::base;
  if (!is_base && !entry.candidate.choices.empty()) known.emplace(spec.id, entry.candidate.choices);
  if (!chooses_by_measuring(spec) || known.contains(spec.id)) return Done{};
  workers_.finish();
  WorkerSession& session = is_base ? base_ : candidate_;
  if (const Status status = session.ensure(worker_threads(spec.key)); !status)
    return note_start_failure(request, side, status.error(), entry);
  StepRequest step{&spec, 0, task_.seed};
  step.extent = StepRequest::Extent::prepare_only;
  step.input_layouts = input_layouts;
  StepResult result = run_step(session, step, clock_);
  session.finish();
  if (result.failure) {
    return note_failure(request, {side, result.failure->outcome, std::move(result.failure->reason)},
                        entry);
  }
  if (result.prepared) known.emplace(spec.id, std::move(result.prepared->choices));
  return Done{};
}

Status GateMeasurer::measure_duet(MeasurementRequest& request, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[request.index];
  --request.count;
  Result<ops::InputLayouts> input_layouts = find_input_layouts(spec);
  if (!input_layouts)
    return note_start_failure(request, SideFailure::Side::candidate, input_layouts.error(), entry);
  for (const auto side : {SideFailure::Side::base, SideFailure::Side::candidate}) {
    BENCH_RETURN_IF_ERROR(choose_way(side, *input_layouts, request, entry));
    if (entry.failure || limit_.must_abort()) return Done{};
  }
  DuetRequest duet_request{&spec, std::move(*input_layouts), task_.seed, task_.seed + ++duets_};
  const auto output = outputs_.find(spec.id);
  if (output != outputs_.end()) duet_request.expected = &output->second;
  duet_request.base_choices = choices(SideFailure::Side::base, spec.id);
  duet_request.candidate_choices = choices(SideFailure::Side::candidate, spec.id);
  DuetResult result = run_duet(workers_, duet_request);
  if (result.base) choices_[SideFailure::Side::base].emplace(spec.id, result.base->choices);
  if (result.candidate)
    choices_[SideFailure::Side::candidate].emplace(spec.id, result.candidate->choices);
  ExactProperties& exact = entry.candidate.exact;
  if (result.candidate && exact == ExactProperties{}) exact = make_properties(*result.candidate);
  if (result.candidate && output == outputs_.end()) {
    outputs_.emplace(spec.id, std::move(result.candidate->output));
  }
  if (result.base && !entry.base) {
    entry.base = make_properties(*result.base);
    BENCH_RETURN_IF_ERROR(parts_.append(base_side_line(task_.run_id, spec.id, *entry.base)));
  }
  if (result.failure) return note_failure(request, std::move(*result.failure), entry);
  if (!result.duet) return Done{};
  Duet duet = std::move(*result.duet);
  duet.run_id = task_.run_id;
  duet.stage = request.kind == MeasurementRequest::Kind::confirmation ? Duet::Stage::confirmation
                                                                      : Duet::Stage::first;
  duet.number = static_cast<int>(std::ranges::count(entry.duets, duet.stage, &Duet::stage));
  if (const auto side = find_side_without_time(duet)) {
    return note_failure(request, {*side, Outcome::failed, "its samples took no time"}, entry);
  }
  BENCH_RETURN_IF_ERROR(parts_.append(duet_line(duet)));
  entry.duets.push_back(std::move(duet));
  return Done{};
}

// Finds out whether the base computes a case that the candidate does not compute.
Status GateMeasurer::check_base(MeasurementRequest& request, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[request.index];
  request.count = 0;
  workers_.finish();
  if (const Status status = base_.ensure(worker_threads(spec.key)); !status) {
    return note_start_failure(request, SideFailure::Side::base, status.error(), entry);
  }
  PrepareRequest message = prepare_request(spec, task_.seed, {});
  message.check = CheckKind::none;
  auto prepared = base_.ask(message, spec.measure.timeout);
  base_.finish();
  if (prepared) {
    entry.base = make_properties(*prepared);
    return parts_.append(base_side_line(task_.run_id, spec.id, *entry.base));
  }
  const RequestFailure& failure = prepared.error();
  if (failure.cause == RequestFailure::Cause::aborted) return Done{};
  return note_failure(request, {SideFailure::Side::base, failure.outcome, failure.reason}, entry);
}

Status GateMeasurer::note_start_failure(MeasurementRequest& request, SideFailure::Side side,
                                        const Error& error, CaseEvidence& entry) {
  if (limit_.must_abort()) return Done{};
  return note_failure(request, {side, Outcome::failed, error.message()}, entry);
}

Status GateMeasurer::note_failure(MeasurementRequest& request, SideFailure failure,
                                  CaseEvidence& entry) {
  request.count = 0;
  BENCH_RETURN_IF_ERROR(parts_.append(failure_line(task_.run_id, entry.id(), failure)));
  entry.failure = std::move(failure);
  return Done{};
}

Status GateMeasurer::measure_window(MeasurementRequest& request, CaseEvidence& entry) {
  const Case& spec = task_.plan->cases[request.index];
  const int processes = std::exchange(request.count, 0);
  const Result<ops::InputLayouts> input_layouts = find_input_layouts(spec);
  if (!input_layouts)
    return note_start_failure(request, SideFailure::Side::candidate, input_layouts.error(), entry);
  BENCH_RETURN_IF_ERROR(choose_way(SideFailure::Side::candidate, *input_layouts, request, entry));
  if (entry.failure || limit_.must_abort()) return Done{};
  if (const auto last = window_ends_.find(spec.id); last != window_ends_.end()) {
    const Nanoseconds wait = last->second + kWindowGap - clock_.now();
    if (wait > Nanoseconds(0)) parts_.pause(wait);
  }
  Window window{task_.run_id, spec.id, static_cast<int>(entry.windows.size()), {}};
  std::vector<ProcessRecord> records;
  for (int i = 0; i < processes && !limit_.stop_cause(); ++i) {
    StepRequest step{&spec, i, task_.seed};
    step.input_layouts = *input_layouts;
    step.choices = choices(SideFailure::Side::candidate, spec.id);
    const auto output = outputs_.find(spec.id);
    if (output != outputs_.end()) {
      step.check = CheckKind::expected;
      step.expected = &output->second;
    }
    if (const Status status = candidate_.ensure(worker_threads(spec.key)); !status) {
      return note_start_failure(request, SideFailure::Side::candidate, status.error(), entry);
    }
    StepResult result = run_step(candidate_, step, clock_);
    candidate_.finish();
    if (result.failure) {
      return note_failure(request,
                          {SideFailure::Side::candidate, result.failure->outcome,
                           std::move(result.failure->reason)},
                          entry);
    }
    if (result.prepared) {
      choices_[SideFailure::Side::candidate].emplace(spec.id, result.prepared->choices);
      outputs_.emplace(spec.id, std::move(result.prepared->output));
    }
    if (!result.record) return Done{};
    if (result.record->samples.empty()) {
      const SampleRemarks& discarded = result.record->device.voided;
      return note_failure(
          request, {SideFailure::Side::candidate, Outcome::failed, format_discarded(discarded)},
          entry);
    }
    const ProcessRecord& process = records.emplace_back(*std::move(result.record));
    window.processes.push_back({*median(process.samples), process.iterations_per_sample});
  }
  window_ends_[spec.id] = clock_.now();
  if (static_cast<int>(window.processes.size()) < processes) return Done{};
  window.by_speed = times_by_speed(records);
  BENCH_RETURN_IF_ERROR(parts_.append(window_line(window)));
  entry.windows.push_back(std::move(window));
  return Done{};
}

DuetProgress duet_progress(RunObserver& observer) {
  return [&observer, done = std::int64_t{0}](const GateStep& step) mutable {
    observer.step(done, done + static_cast<std::int64_t>(step.steps_left),
                  fmt::format("{} of {}", step.kind, step.id), step.time_left);
    ++done;
  };
}

}  // namespace bench
