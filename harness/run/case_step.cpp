// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_step.hpp"

#include "harness/result/device_samples.hpp"
#include "harness/result/energy.hpp"
#include "harness/run/stop_rule.hpp"
#include "harness/wire/worker_limits.hpp"

#include <algorithm>
#include <utility>

namespace bench {

PrepareRequest prepare_request(const Case& spec, std::uint64_t seed,
                               ops::InputLayouts input_layouts) {
  PrepareRequest request;
  request.id = spec.id;
  request.network = spec.network;
  request.check = CheckKind::reference;
  request.seed = seed;
  request.reuse_distance = spec.reuse_distance;
  request.input_layouts = std::move(input_layouts);
  request.tuning = spec.measure.tune;
  request.sample_method = spec.measure.sample_method;
  return request;
}

namespace {

// The time that a device's pauses may add to a round.
constexpr Nanoseconds kMaxWait = kFirstPause * ((1 << kMaxPauses) - 1);

class Step {
 public:
  Step(WorkerSession& session, const StepRequest& request, Clock& clock)
      : session_(session), request_(request), clock_(clock) {}

  StepResult run() && {
    if (prepare() && request_.extent == StepRequest::Extent::measure) measure();
    return std::move(result_);
  }

 private:
  // Returns the requested reply, or nullopt after noting why the step ends. `target`: the measuring
  // time requested of the worker; the case's timeout starts after it.
  template <class Answer>
  std::optional<Answer> ask(const Request& message, Nanoseconds target) {
    auto reply = session_.ask<Answer>(message, target + request_.spec->measure.timeout);
    if (reply) return std::move(*reply);
    if (reply.error().cause == RequestFailure::Cause::interruption) {
      result_.course = StepResult::Course::abandoned;
    } else {
      result_.ended = ErrorReply{reply.error().outcome, reply.error().reason};
    }
    return std::nullopt;
  }

  bool prepare() {
    PrepareRequest message = prepare_request(*request_.spec, request_.seed, request_.input_layouts);
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
    record.preparation = result_.prepared->preparation;
    record.implementation = result_.prepared->implementation;
    record.setup = result_.prepared->setup;
    const std::optional<StopReason> reason = take_rounds(warm->sample, record);
    if (const auto why = record.energy ? energy_obstacle(*record.energy) : std::nullopt) {
      result_.prepared->details[kEnergyDetail] = "n/a: " + *why;
    }
    if (result_.ended || (record.samples.empty() && record.device.voided.count == 0)) return;
    record.stop = reason.value_or(StopReason::interrupted);
    drop_incomplete_lists(record.device, record.samples.size());
    result_.record = std::move(record);
  }

  std::optional<StopReason> take_rounds(Nanoseconds sample, ProcessRecord& record) {
    const Measure& limits = request_.spec->measure;
    std::vector<Nanoseconds>& samples = record.samples;
    if (!request_.range.empty()) return take_range(sample, limits.min_iterations, record);
    const StopRule rule{limits.precision, limits.min_iterations,
                        limits.max_time / limits.processes};
    Nanoseconds timed{0};
    for (;;) {
      if (const auto reason = stop_reason(rule, counted(record), std::ssize(samples), timed)) {
        return reason;
      }
      if (!samples.empty() && clock_.now() >= request_.deadline) return StopReason::budget;
      const auto taken = static_cast<std::int64_t>(samples.size());
      const std::int64_t count = std::clamp<std::int64_t>(
          (request_.deadline - clock_.now()) / std::max(sample, Nanoseconds(1)), 1,
          next_round(rule, taken, timed, sample));
      const auto round = ask<RoundReply>(RoundRequest{count}, sample * count + longest_wait());
      if (!round) return std::nullopt;
      add_device_part(*round, record);
      add_canaries(*round, record);
      if (round->energy) add_energy(record.energy, *round->energy);
      for (const Nanoseconds time : round->samples) timed += time;
      samples.insert(samples.end(), round->samples.begin(), round->samples.end());
      const bool fewer = static_cast<std::int64_t>(round->samples.size()) < count;
      if (fewer && round->device.voided.count > 0) return StopReason::voided;
      if (round->samples.empty()) {
        result_.ended = ErrorReply{Outcome::failed, "the worker answered a round without samples"};
        return std::nullopt;
      }
      sample = timed / static_cast<std::int64_t>(samples.size());
    }
  }

  // Later details take the place of earlier ones.
  void add_device_part(const RoundReply& round, ProcessRecord& record) {
    append(record.device, round.device);
    for (const auto& [name, value] : round.details) result_.prepared->details[name] = value;
  }

  // If a round lacks a canary for a sample, the process drops all of them: a record has all or
  // none.
  void add_canaries(const RoundReply& round, ProcessRecord& record) {
    const SampleCanaries& more = round.canaries;
    const bool whole = more.threads && more.times.size() == round.samples.size();
    const bool expected = record.samples.size() == record.canaries.times.size();
    if (request_.levels == nullptr || !whole || !expected) {
      record.canaries = {};
      return;
    }
    request_.levels->learn(*more.threads, more.times);
    const std::optional<Nanoseconds> level = request_.levels->level(*more.threads);
    record.canaries.threads = more.threads;
    // The rounds of a process follow each other within a second, so the shortest is the least
    // disturbed.
    if (more.join) {
      record.canaries.join = std::min(record.canaries.join.value_or(*more.join), *more.join);
    }
    record.canaries.level = level.value_or(Nanoseconds(0));
    record.canaries.times.insert(record.canaries.times.end(), more.times.begin(), more.times.end());
  }

  static std::vector<Nanoseconds> counted(const ProcessRecord& record) {
    const ProcessRecord* const process = &record;
    const JudgedSamples judged = judge_samples({&process, 1});
    if (judged.is_disturbed() || judged.counted.empty()) return {};
    return judged.counted.front().samples;
  }

  Nanoseconds longest_wait() const {
    return request_.spec->key.device == "cpu" ? Nanoseconds(0) : kMaxWait;
  }

  std::optional<StopReason> take_range(Nanoseconds sample, std::int64_t count,
                                       ProcessRecord& record) {
    auto round = ask<RoundReply>(RoundRequest{count, request_.range}, sample * count);
    if (!round) return std::nullopt;
    add_device_part(*round, record);
    record.samples = std::move(round->samples);
    return record.samples.empty() ? StopReason::voided : StopReason::max_time;
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
