// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_step.hpp"

#include "harness/result/device_samples.hpp"
#include "harness/result/energy.hpp"
#include "harness/result/latency.hpp"
#include "harness/result/speed.hpp"
#include "harness/stats/summary.hpp"
#include "harness/wire/worker_limits.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

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

bool chooses_by_measuring(const Case& spec) {
  const bool is_network = std::holds_alternative<std::shared_ptr<const ops::Network>>(spec.work);
  return is_network ? spec.key.device != "cpu" : spec.measure.tune > 0;
}

namespace {

// Maximum time that pauses of the device add to a round.
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
  // Returns the reply, or nullopt after storing in result_ why the step ends. `target`: expected
  // time of the measurement; the time limit is this time plus the case's timeout.
  template <class Message>
  std::optional<typename Message::Answer> ask(const Message& message, Nanoseconds target) {
    auto reply = session_.ask(message, target + request_.spec->measure.timeout);
    if (reply) return std::move(*reply);
    if (reply.error().cause == RequestFailure::Cause::aborted) {
      result_.completion = StepResult::Completion::aborted;
    } else {
      const RequestFailure& failure = reply.error();
      result_.failure =
          ErrorReply{failure.outcome, failure.reason, failure.implementation, failure.details};
    }
    return std::nullopt;
  }

  bool prepare() {
    PrepareRequest message = prepare_request(*request_.spec, request_.seed, request_.input_layouts);
    message.check = request_.check;
    message.choices = request_.choices;
    if (request_.check == CheckKind::expected) message.expected = *request_.expected;
    result_.prepared = ask(message, Nanoseconds(0));
    return result_.prepared.has_value();
  }

  void measure() {
    const Case& spec = *request_.spec;
    const Nanoseconds max_warmup = kWarmupTimeFactor * spec.warmup.time;
    const auto warmup = ask(WarmUpRequest{spec.warmup.iterations, spec.warmup.time}, max_warmup);
    if (!warmup) return;
    ProcessRecord record;
    record.id = spec.id;
    record.process = request_.process;
    record.iterations_per_sample = warmup->iterations_per_sample;
    record.warmup_iterations = warmup->iterations;
    record.steady = warmup->steady;
    record.preparation = result_.prepared->preparation;
    record.implementation = result_.prepared->implementation;
    record.setup = result_.prepared->setup;
    record.choices = result_.prepared->choices;
    const std::optional<StopReason> reason = measure_rounds(warmup->sample, record);
    if (reason && !record.samples.empty()) check_again();
    if (const auto no_energy =
            record.energy ? energy_unavailable_reason(*record.energy) : std::nullopt) {
      result_.prepared->details[kEnergyDetail] = "n/a: " + *no_energy;
    }
    if (result_.failure || (record.samples.empty() && record.device.voided.count == 0)) return;
    record.stop = reason.value_or(StopReason::interrupted);
    drop_incomplete_lists(record.device, record.samples.size());
    result_.record = std::move(record);
  }

  // Checks that the case still computes what it computed before the samples. A calibration does not
  // check at all.
  void check_again() {
    if (request_.check == CheckKind::none) return;
    ask(ReleaseRequest{.check = true}, Nanoseconds(0));
  }

  // Measures until the stop rule ends the process. Returns nullopt if a request fails. `sample`:
  // expected time of a sample.
  std::optional<StopReason> measure_rounds(Nanoseconds sample, ProcessRecord& record) {
    const Measure& limits = request_.spec->measure;
    std::vector<Nanoseconds>& samples = record.samples;
    if (!request_.range.empty()) return measure_range(sample, limits.min_iterations, record);
    const StopRule rule{limits.precision, limits.min_iterations,
                        limits.max_time / limits.processes};
    Nanoseconds timed{0};
    for (;;) {
      if (const auto reason =
              stop_reason(rule, counted_samples(record), std::ssize(samples), timed)) {
        return reason;
      }
      if (!samples.empty() && clock_.now() >= request_.deadline) return StopReason::budget;
      const auto measured = static_cast<std::int64_t>(samples.size());
      const std::int64_t count = std::clamp<std::int64_t>(
          (request_.deadline - clock_.now()) / std::max(sample, Nanoseconds(1)), 1,
          next_round(rule, measured, timed, sample));
      const auto round = ask(RoundRequest{count}, sample * count + max_wait());
      if (!round) return std::nullopt;
      add_device_part(*round, record);
      add_canaries(*round, record);
      if (round->energy) add_energy(record.energy, *round->energy);
      if (round->latencies) add_latencies(*round->latencies, record);
      for (const Nanoseconds time : round->samples) timed += time;
      samples.insert(samples.end(), round->samples.begin(), round->samples.end());
      const bool is_short = static_cast<std::int64_t>(round->samples.size()) < count;
      if (is_short && round->device.voided.count > 0) return StopReason::voided;
      if (round->samples.empty()) {
        result_.failure =
            ErrorReply{Outcome::failed, "the worker answered a round without samples"};
        return std::nullopt;
      }
      sample = timed / static_cast<std::int64_t>(samples.size());
    }
  }

  // Appends what the round reports besides times. Later details replace earlier ones.
  void add_device_part(const RoundReply& round, ProcessRecord& record) {
    append(record.device, round.device);
    for (const auto& [name, value] : round.details) result_.prepared->details[name] = value;
  }

  static void add_latencies(const LatencyCounts& more, ProcessRecord& record) {
    if (!record.latencies) record.latencies.emplace();
    append(*record.latencies, more);
  }

  // Appends the canaries of a round. Drops the canaries of all rounds if this round lacks any,
  // since a record must have one per sample or none.
  void add_canaries(const RoundReply& round, ProcessRecord& record) {
    const SampleCanaries& more = round.canaries;
    const bool is_complete = more.threads && more.times.size() == round.samples.size();
    const bool was_complete = record.samples.size() == record.canaries.times.size();
    if (!is_complete || !was_complete) {
      record.canaries = {};
      return;
    }
    record.canaries.threads = more.threads;
    // Uses the shortest join time of the rounds, which is the least disturbed one.
    if (more.join) {
      record.canaries.join = std::min(record.canaries.join.value_or(*more.join), *more.join);
    }
    record.canaries.times.insert(record.canaries.times.end(), more.times.begin(), more.times.end());
  }

  // Returns the samples whose precision may end the process: those at the most frequent speed of
  // the machine, since other speeds widen the interval of all samples but not that of a comparison.
  static std::vector<Nanoseconds> counted_samples(const ProcessRecord& record) {
    const ProcessRecord* const process = &record;
    if (!canary_threads({&process, 1})) return record.samples;
    return samples_at_usual_speed({record.samples, record.canaries.times, 1, std::nullopt});
  }

  Nanoseconds max_wait() const {
    return request_.spec->key.device == "cpu" ? Nanoseconds(0) : kMaxWait;
  }

  // Measures one round of `count` samples inside a named range.
  std::optional<StopReason> measure_range(Nanoseconds sample, std::int64_t count,
                                          ProcessRecord& record) {
    auto round = ask(RoundRequest{count, request_.range}, sample * count);
    if (!round) return std::nullopt;
    add_device_part(*round, record);
    if (round->latencies) add_latencies(*round->latencies, record);
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

std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t measured, Nanoseconds timed) {
  if (std::ssize(samples) >= rule.min_samples) {
    const std::optional<double> width = relative_half_width(samples, kStopCoverage);
    if (width && *width <= rule.precision) return StopReason::precision;
  }
  if (measured > 0 && (timed >= rule.time_per_process || measured >= kMaxSamples))
    return StopReason::max_time;
  return std::nullopt;
}

std::int64_t next_round(const StopRule& rule, std::int64_t measured, Nanoseconds timed,
                        Nanoseconds sample) {
  const std::int64_t duration = std::max<std::int64_t>(sample.count(), 1);
  const Nanoseconds limit = measured == 0 ? kFirstRoundTime : kRoundTime;
  const Nanoseconds remaining = std::min(limit, rule.time_per_process - timed);
  const std::int64_t preferred = measured == 0 ? rule.min_samples : measured;
  // Rounds up, so that the process reaches its time.
  const std::int64_t max_samples =
      (std::max<std::int64_t>(remaining.count(), 0) + duration - 1) / duration;
  return std::clamp<std::int64_t>(std::min(preferred, max_samples), 1, kMaxSamples);
}

}  // namespace bench
