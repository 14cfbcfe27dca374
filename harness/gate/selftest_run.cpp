// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest_run.hpp"

#include "base/folder.hpp"
#include "harness/gate/duet.hpp"
#include "harness/run/case_step.hpp"
#include "harness/run/time_limit.hpp"
#include "harness/stats/signed_rank.hpp"
#include "harness/wire/worker_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr int kTimerReads = 100000;
constexpr std::int64_t kHarnessSamples = 200;

class SelfTestRun {
 public:
  SelfTestRun(const SelfTestTask& task, const SelfTestParts& parts, Clock& clock)
      : task_(task),
        parts_(parts),
        clock_(clock),
        limit_(task.budget, parts.interrupted, clock),
        abort_([this] { return limit_.must_abort(); }),
        base_(parts.start, parts.hello, abort_, clock),
        candidate_(parts.start, parts.hello, abort_, clock),
        slowed_base_(parts.start, parts.hello, abort_, clock),
        slowed_(parts.start_slowed, parts.hello, abort_, clock),
        equal_workers_(base_, candidate_, parts.pause),
        slowed_workers_(slowed_base_, slowed_, parts.pause) {}

  Result<SelfTest> run() {
    test_.timer = measure_timer(clock_);
    for (const Case& spec : task_.plan->cases) {
      if (must_stop()) return finish();
      const Status measured = measure_harness(spec);
      if (limit_.must_abort()) return finish();
      BENCH_RETURN_IF_ERROR(measured);
    }
    const std::size_t total = task_.plan->cases.size() * static_cast<std::size_t>(task_.duets);
    std::size_t duets_left = total;
    const Nanoseconds start = clock_.now();
    for (int i = 0; i < task_.duets; ++i) {
      for (const Case& spec : task_.plan->cases) {
        if (must_stop()) return finish();
        if (parts_.progress) {
          GateStep step{spec.id, "duet", duets_left};
          if (duets_left < total) {
            const auto done = static_cast<std::int64_t>(total - duets_left);
            step.time_left = (clock_.now() - start) / done * static_cast<std::int64_t>(duets_left);
          }
          parts_.progress(step);
        }
        --duets_left;
        BENCH_RETURN_IF_ERROR(measure_duet(spec, equal_workers_, [&](const Duet& duet) {
          if (auto null_duet = make_null_duet(duet)) test_.duets.push_back(std::move(*null_duet));
        }));
        if (i % kInjectedEvery != 0 || must_stop()) continue;
        BENCH_RETURN_IF_ERROR(measure_duet(spec, slowed_workers_, [&](const Duet& duet) {
          if (const auto ratio = log_ratio(duet)) slowed_ratios_[spec.id].push_back(*ratio);
        }));
        slowed_workers_.finish();  // frees their memory: it is as much as that of the other pair
      }
    }
    return finish();
  }

 private:
  bool must_stop() const { return limit_.stop_cause().has_value(); }

  // Returns the results so far.
  SelfTest finish() {
    for (const auto& [id, ratios] : slowed_ratios_) {
      test_.injected.push_back({id, kInjectedSlowdown,
                                std::expm1(*HodgesLehmann(ratios).estimate()),
                                static_cast<int>(ratios.size())});
    }
    return std::move(test_);
  }

  Status measure_duet(const Case& spec, DuetWorkers& workers,
                      const std::function<void(const Duet&)>& consume) {
    DuetRequest request{&spec, {}, task_.seed, task_.seed + ++duets_};
    const auto output = outputs_.find(spec.id);
    if (output != outputs_.end()) request.expected = &output->second;
    request.base_choices = request.candidate_choices = choices_[spec.id];
    DuetResult result = run_duet(workers, request);
    if (result.failure) return Error{result.failure->reason, spec.id, ""};
    if (result.candidate && output == outputs_.end()) {
      outputs_.emplace(spec.id, std::move(result.candidate->output));
    }
    if (result.duet) consume(*result.duet);
    return Done{};
  }

  // Time limit of a request to a worker.
  static Nanoseconds compute_limit(const Case& spec) {
    return kWarmupTimeFactor * kDuetWarmup + spec.measure.timeout;
  }

  template <class Message>
  Result<typename Message::Answer> ask(const Case& spec, const Message& request) {
    auto reply = base_.ask(request, compute_limit(spec));
    if (!reply) return Error{reply.error().reason, spec.id, ""};
    return std::move(*reply);
  }

  // Chooses by measuring in a worker of its own (chooses_by_measuring()), once for both sides: they
  // are one program.
  Status choose_way(const Case& spec) {
    if (!chooses_by_measuring(spec)) return Done{};
    BENCH_RETURN_IF_ERROR(base_.ensure(worker_threads(spec.key)));
    BENCH_ASSIGN_OR_RETURN(PreparedReply prepared,
                           ask(spec, prepare_request(spec, task_.seed, {})));
    base_.finish();
    choices_[spec.id] = std::move(prepared.choices);
    return Done{};
  }

  // Measures the time of a round outside its samples (the loop, its bookkeeping and the two
  // messages), and the overhead of the profiler.
  Status measure_harness(const Case& spec) {
    BENCH_RETURN_IF_ERROR(choose_way(spec));
    BENCH_RETURN_IF_ERROR(base_.ensure(worker_threads(spec.key)));
    PrepareRequest prepare = prepare_request(spec, task_.seed, {});
    prepare.check = CheckKind::none;
    prepare.choices = choices_[spec.id];
    BENCH_RETURN_IF_ERROR(ask(spec, prepare));
    BENCH_RETURN_IF_ERROR(ask(spec, WarmUpRequest{spec.warmup.iterations, kDuetWarmup}));
    const Nanoseconds start = clock_.now();
    BENCH_ASSIGN_OR_RETURN(const RoundReply round, ask(spec, RoundRequest{kHarnessSamples}));
    Nanoseconds overhead = clock_.now() - start;
    for (const Nanoseconds sample : round.samples) overhead -= sample;
    BENCH_ASSIGN_OR_RETURN(const std::optional<double> profiler, measure_profiler(spec, prepare));
    base_.finish();
    test_.harness.push_back({spec.id, overhead / kHarnessSamples, profiler});
    return Done{};
  }

  // Returns the profiled time of an iteration over the unprofiled one, minus 1. Returns nullopt if
  // the case cannot be profiled.
  Result<std::optional<double>> measure_profiler(const Case& spec, const PrepareRequest& prepare) {
    BENCH_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::create("selftest"));
    ProfileRequest request;
    request.prepare = prepare;
    request.spool = folder.file("activities.jsonl");
    request.run_id = "selftest";
    request.warmup_iterations = spec.warmup.iterations;
    request.warmup_time = kDuetWarmup;
    const auto reply = base_.ask(request, compute_limit(spec));
    if (!reply && reply.error().worker_is_gone()) return Error{reply.error().reason, spec.id, ""};
    if (!reply || reply->unprofiled.count() <= 0) return std::optional<double>();
    return std::optional(static_cast<double>(reply->profiled.count()) /
                             static_cast<double>(reply->unprofiled.count()) -
                         1);
  }

  const SelfTestTask& task_;
  const SelfTestParts& parts_;
  Clock& clock_;
  TimeLimit limit_;
  std::function<bool()> abort_;  // whether a wait for a worker must end
  WorkerSession base_, candidate_, slowed_base_, slowed_;
  DuetWorkers equal_workers_, slowed_workers_;
  std::map<std::string, OutputSample> outputs_;               // by case id, from its first duet
  std::map<std::string, std::string> choices_;                // by case id, made by measuring
  std::map<std::string, std::vector<double>> slowed_ratios_;  // log-ratios by case id
  std::uint64_t duets_ = 0;                                   // number of duets started so far
  SelfTest test_;
};

}  // namespace

TimerFacts measure_timer(Clock& clock) {
  TimerFacts facts;
  std::optional<Nanoseconds> step;
  const Nanoseconds start = clock.now();
  Nanoseconds last = start;
  for (int i = 0; i < kTimerReads; ++i) {
    const Nanoseconds now = clock.now();
    if (now > last && (!step || now - last < *step)) step = now - last;
    last = now;
  }
  facts.step = step.value_or(Nanoseconds(0));
  facts.read = (last - start) / kTimerReads;
  return facts;
}

Result<SelfTest> measure_self_test(const SelfTestTask& task, const SelfTestParts& parts,
                                   Clock& clock) {
  return SelfTestRun(task, parts, clock).run();
}

}  // namespace bench
