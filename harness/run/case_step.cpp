// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_step.hpp"

#include "harness/run/prepare_request.hpp"
#include "harness/run/stop_rule.hpp"
#include "harness/run/warmup.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

class Step {
 public:
  Step(WorkerSession& session, const StepRequest& request, Clock& clock)
      : session_(session), request_(request), clock_(clock) {}

  StepResult run() && {
    if (prepare() && request_.extent == StepRequest::Extent::measure) measure();
    return std::move(result_);
  }

 private:
  // The wanted reply, or nothing after noting why the step ends. `target`: what the worker is
  // asked to take, beyond which the case's timeout counts.
  template <class Wanted>
  std::optional<Wanted> ask(const Request& message, Nanoseconds target) {
    auto reply = session_.ask<Wanted>(message, target + request_.spec->measure.timeout);
    if (reply) return std::move(*reply);
    if (reply.error().cause == Unanswered::Cause::interruption) {
      result_.course = StepResult::Course::abandoned;
    } else {
      result_.ended = RefusedReply{reply.error().outcome, reply.error().reason};
    }
    return std::nullopt;
  }

  bool prepare() {
    PrepareRequest message = prepare_request(*request_.spec, request_.seed, request_.met);
    message.check = request_.check;
    if (request_.check == CheckKind::expected) message.expected = *request_.expected;
    result_.prepared = ask<PreparedReply>(message, Nanoseconds(0));
    return result_.prepared.has_value();
  }

  void measure() {
    const Case& spec = *request_.spec;
    const Nanoseconds cap = kWarmupTimeFactor * spec.warmup.time;
    const auto warm =
        ask<WarmedUpReply>(WarmUpRequest{spec.warmup.iterations, spec.warmup.time}, cap);
    if (!warm) return;
    ProcessRecord record;
    record.id = spec.id;
    record.process = request_.process;
    record.iterations_per_sample = warm->iterations_per_sample;
    record.warmup_iterations = warm->iterations;
    record.steady = warm->steady;
    record.create = result_.prepared->create;
    record.create_hit = result_.prepared->create_hit;
    record.reorder = result_.prepared->reorder;
    record.first_run = result_.prepared->first_run;
    record.implementation = result_.prepared->implementation;
    const std::optional<StopReason> reason = take_rounds(warm->sample, record.samples);
    if (result_.ended || record.samples.empty()) return;
    record.stop = reason.value_or(StopReason::interrupted);
    result_.record = std::move(record);
  }

  std::optional<StopReason> take_rounds(Nanoseconds sample, std::vector<Nanoseconds>& samples) {
    const Measure& limits = request_.spec->measure;
    if (!request_.range.empty()) return take_range(sample, limits.min_iterations, samples);
    const StopRule rule{limits.precision, limits.min_iterations,
                        limits.max_time / limits.processes};
    Nanoseconds timed{0};
    for (;;) {
      if (const auto reason = stop_reason(rule, samples, timed)) return reason;
      if (!samples.empty() && clock_.now() >= request_.deadline) return StopReason::budget;
      const auto taken = static_cast<std::int64_t>(samples.size());
      const std::int64_t count = std::clamp<std::int64_t>(
          (request_.deadline - clock_.now()) / std::max(sample, Nanoseconds(1)), 1,
          next_round(rule, taken, timed, sample));
      const auto round = ask<RoundReply>(RoundRequest{count}, sample * count);
      if (!round) return std::nullopt;
      if (round->samples.empty()) {
        result_.ended =
            RefusedReply{Outcome::failed, "the worker answered a round without samples"};
        return std::nullopt;
      }
      for (const Nanoseconds time : round->samples) timed += time;
      samples.insert(samples.end(), round->samples.begin(), round->samples.end());
      sample = timed / static_cast<std::int64_t>(samples.size());
    }
  }

  std::optional<StopReason> take_range(Nanoseconds sample, std::int64_t count,
                                       std::vector<Nanoseconds>& samples) {
    auto round = ask<RoundReply>(RoundRequest{count, request_.range}, sample * count);
    if (!round) return std::nullopt;
    samples = std::move(round->samples);
    return StopReason::max_time;
  }

  WorkerSession& session_;
  const StepRequest& request_;
  Clock& clock_;
  StepResult result_;
};

}  // namespace

StepResult run_step(WorkerSession& session, const StepRequest& request, Clock& clock) {
  return Step(session, request, clock).run();
}

}  // namespace bench
