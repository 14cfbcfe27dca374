// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include "base/random.hpp"
#include "harness/judge/decide.hpp"
#include "harness/judge/stage_two.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>

namespace bench {

namespace {

// Time of a simulated sample. It is so long that rounding to nanoseconds is negligible compared
// with the smallest effect.
constexpr double kSampleNanoseconds = 1e9;

// The source of random choices.
class Resampler {
 public:
  explicit Resampler(std::uint64_t seed) : state_(seed) {}
  // Returns a random integer from 0 to bound - 1.
  std::size_t below(std::size_t bound) {
    state_ += kMixStep;
    return static_cast<std::size_t>((static_cast<unsigned __int128>(mix(state_)) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// Returns `count` consecutive values from a random position on. After the last value follows the
// first one.
std::vector<double> resample_consecutive(const std::vector<double>& values, std::size_t count,
                                         Resampler& resampler) {
  std::vector<double> result;
  const std::size_t begin = resampler.below(values.size());
  for (std::size_t i = 0; i < count; ++i) result.push_back(values[(begin + i) % values.size()]);
  return result;
}

// One simulated gate.
class Suite {
 public:
  Suite(std::span<const RecordedDuets> kernels, const SimulationOptions& options,
        Resampler& resampler)
      : kernels_(kernels), options_(options), resampler_(resampler) {
    evidence_.mode = GateEvidence::Mode::paired;
    evidence_.policy = options.policy;
    evidence_.settings = options.settings;
    for (int i = 0; i < options.cases; ++i) add_case(i < options.slower ? options.slowdown : 0);
  }

  // Runs the gate and adds its verdicts to `result`.
  void run(SimulationResult& result) {
    Decision decision = decide(evidence_);
    for (bool has_measured = true; has_measured;) {
      has_measured = false;
      for (const MeasurementRequest& request : decision.requests) {
        run_duets(request);
        has_measured = true;
      }
      if (has_measured) decision = decide(evidence_);
    }
    add_verdicts(decision, result);
  }

 private:
  void add_case(double slowdown) {
    const RecordedDuets& kernel = kernels_[resampler_.below(kernels_.size())];
    log_effects_.push_back(std::log1p(slowdown));
    records_.push_back(&kernel);
    CaseEvidence& entry = evidence_.cases.emplace_back();
    entry.candidate.id = kernel.name;
    const double q25 = kernel.base_q25[resampler_.below(kernel.base_q25.size())] * (1 + slowdown);
    entry.candidate.processes = {process_from_iteration(FractionalNanoseconds(q25))};
  }

  void run_duets(const MeasurementRequest& request) {
    CaseEvidence& entry = evidence_.cases[request.index];
    const auto ratios = resample_consecutive(records_[request.index]->log_ratios,
                                             static_cast<std::size_t>(request.count), resampler_);
    for (const double ratio : ratios) {
      Duet duet;
      duet.stage = request.kind == MeasurementRequest::Kind::confirmation
                       ? Duet::Stage::confirmation
                       : Duet::Stage::first;
      const bool is_mirrored = resampler_.below(2) == 1;
      const double simulated_ratio = (is_mirrored ? -ratio : ratio) + log_effects_[request.index];
      duet.base = {Nanoseconds(std::llround(kSampleNanoseconds))};
      duet.candidate = {Nanoseconds(std::llround(kSampleNanoseconds * std::exp(simulated_ratio)))};
      entry.duets.push_back(std::move(duet));
    }
  }

  void add_verdicts(const Decision& decision, SimulationResult& result) const {
    bool is_red = false;
    std::size_t processes = 0;
    for (std::size_t i = 0; i < evidence_.cases.size(); ++i) {
      const Verdict verdict = decision.judgements[i].verdict;
      const bool is_regression = verdict == Verdict::regression;
      const bool is_slow = log_effects_[i] > 0;
      (is_slow ? result.slow : result.clean) += 1;
      if (is_regression) (is_slow ? result.detected : result.false_positives) += 1;
      is_red = is_red || (is_regression && !is_slow);
      result.inconclusive += verdict == Verdict::inconclusive ? 1 : 0;
      processes +=
          evidence_.cases[i].candidate.processes.size() + 2 * evidence_.cases[i].duets.size();
    }
    ++result.suites;
    result.red_suites += is_red ? 1 : 0;
    result.processes_per_case +=
        static_cast<double>(processes) / static_cast<double>(evidence_.cases.size());
  }

  std::span<const RecordedDuets> kernels_;
  const SimulationOptions& options_;
  Resampler& resampler_;
  GateEvidence evidence_;
  std::vector<double> log_effects_;            // log(1 + slowdown), one per case
  std::vector<const RecordedDuets*> records_;  // one per case
};

}  // namespace

SimulationResult simulate(std::span<const RecordedDuets> kernels,
                          const SimulationOptions& options) {
  assert(!kernels.empty());
  Resampler resampler(options.seed);
  SimulationResult result;
  for (int i = 0; i < options.suites; ++i) Suite(kernels, options, resampler).run(result);
  if (result.suites > 0) result.processes_per_case /= result.suites;
  return result;
}

namespace {

constexpr std::array<double, 4> kSlowdowns = {0.02, 0.03, 0.05, 0.10};
// Number of slower cases per suite, as after a change that affects one of many operators.
constexpr int kSlowerCases = 4;
// The power is estimated from one suite in this many, since each has kSlowerCases slower cases.
constexpr int kPowerDivisor = 4;

SelfTestSummary::Kernel summarise_kernel(const RecordedDuets& record) {
  const GatePolicy policy;
  SelfTestSummary::Kernel kernel;
  kernel.name = record.name;
  kernel.duets = static_cast<int>(record.log_ratios.size());
  kernel.center = median(record.log_ratios).value_or(0);
  kernel.deviation = standard_deviation(record.log_ratios).value_or(0);
  const auto log_effect = detectable_effect(kernel.deviation, policy.last_duets,
                                            policy.detectable_error, policy.detectable_power);
  if (log_effect) kernel.detectable = std::expm1(*log_effect);
  return kernel;
}

std::optional<Nanoseconds> base_q25(const Duet& duet) {
  std::vector<Nanoseconds> times;
  for (const std::size_t round : counted_rounds(duet)) times.push_back(duet.base[round]);
  return quantile(times, 0.25);
}

bool has_enough_duets(const RecordedDuets& record) {
  return record.log_ratios.size() >= static_cast<std::size_t>(kMinResampledDuets);
}

// `records` have enough duets.
SelfTestSummary::Rates compute_rates(const std::vector<RecordedDuets>& records,
                                     const SelfTestOptions& options) {
  SelfTestSummary::Rates rates;
  SimulationOptions simulation;
  simulation.suites = options.suites;
  simulation.seed = options.seed;
  rates.clean = simulate(records, simulation);
  simulation.suites = std::max(1, options.suites / kPowerDivisor);
  simulation.slower = kSlowerCases;
  for (const double slowdown : kSlowdowns) {
    simulation.slowdown = slowdown;
    rates.power.push_back({slowdown, simulate(records, simulation)});
  }
  return rates;
}

}  // namespace

std::optional<NullDuet> make_null_duet(const Duet& duet) {
  const auto ratio = log_ratio(duet);
  const auto q25 = base_q25(duet);
  if (!ratio || !q25) return std::nullopt;
  return NullDuet{duet.id, *ratio, *q25, duet.iterations_per_sample};
}

std::vector<RecordedDuets> collect_duets(const std::vector<SelfTest>& tests) {
  std::vector<RecordedDuets> records;
  for (const SelfTest& test : tests) {
    std::map<std::string, std::size_t> index_by_id;
    for (const NullDuet& duet : test.duets) {
      const auto [index, is_new] = index_by_id.try_emplace(duet.id, records.size());
      if (is_new) records.push_back({duet.id, {}, {}});
      RecordedDuets& record = records[index->second];
      record.log_ratios.push_back(duet.log_ratio);
      record.base_q25.push_back(static_cast<double>(duet.base_q25.count()) /
                                static_cast<double>(duet.iterations_per_sample));
    }
  }
  return records;
}

Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options) {
  std::vector<RecordedDuets> records = collect_duets(tests);
  if (records.empty()) {
    return Error{"contains no duets", "",
                 "record some with `bench selftest --record FILE`, with a longer --budget or none"};
  }
  SelfTestSummary summary;
  for (const RecordedDuets& record : records) summary.kernels.push_back(summarise_kernel(record));
  std::erase_if(records, std::not_fn(has_enough_duets));
  if (!records.empty()) summary.rates = compute_rates(records, options);
  return summary;
}

ProofOfLife make_proof(const SelfTest& test, const SelfTestSummary& summary) {
  ProofOfLife proof;
  proof.run_id = test.run_id;
  proof.time = test.time;
  proof.machine_class = test.machine_class;
  for (const SelfTestSummary::Kernel& kernel : summary.kernels)
    proof.duets = std::max<std::int64_t>(proof.duets, kernel.duets);
  for (const InjectedSlowdown& slowdown : test.injected) {
    const bool is_worse =
        !proof.injected || injected_error(slowdown.injected, slowdown.measured) >
                               injected_error(proof.injected->slowdown, proof.injected->measured);
    if (is_worse) proof.injected = ProofOfLife::Injected{slowdown.injected, slowdown.measured};
  }
  if (!summary.rates) return proof;
  proof.suites = summary.rates->clean.suites;
  proof.red_suites = summary.rates->clean.red_suites;
  for (const PowerRow& row : summary.rates->power)
    proof.power.push_back({row.slowdown, row.result.slow, row.result.detected});
  return proof;
}

}  // namespace bench
