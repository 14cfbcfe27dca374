// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include "base/random.hpp"
#include "harness/judge/decide.hpp"
#include "harness/judge/stage_two.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/median.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>

namespace bench {

namespace {

// Long enough that rounding to nanoseconds is negligible compared with the smallest effect.
constexpr double kSampleNanoseconds = 1e9;

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ += kMixStep;
    return static_cast<std::size_t>((static_cast<unsigned __int128>(mix(state_)) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

// Returns `count` consecutive values from a random position on; the record wraps around.
std::vector<double> consecutive(const std::vector<double>& values, std::size_t count, Draw& draw) {
  std::vector<double> result;
  const std::size_t begin = draw.below(values.size());
  for (std::size_t i = 0; i < count; ++i) result.push_back(values[(begin + i) % values.size()]);
  return result;
}

class Suite {
 public:
  Suite(std::span<const RecordedDuets> kernels, const SimulationOptions& options, Draw& draw)
      : kernels_(kernels), options_(options), draw_(draw) {
    evidence_.mode = GateEvidence::Mode::paired;
    evidence_.policy = options.policy;
    evidence_.settings = options.settings;
    for (int i = 0; i < options.cases; ++i) add_case(i < options.slower ? options.slowdown : 0);
  }

  void run(SimulationResult& result) {
    Decision decision = decide(evidence_);
    for (bool any = true; any;) {
      any = false;
      for (const MeasurementRequest& wanted : decision.wanted) {
        if (!is_within_budget(wanted)) continue;
        play(wanted);
        any = true;
      }
      if (any) decision = decide(evidence_);
    }
    count(decision, result);
  }

 private:
  bool is_within_budget(const MeasurementRequest& wanted) const {
    if (!options_.max_duets) return true;
    const auto done = static_cast<int>(evidence_.cases[wanted.index].duets.size());
    return wanted.kind == MeasurementRequest::Kind::duets &&
           done + wanted.count <= *options_.max_duets;
  }

  void add_case(double slowdown) {
    const RecordedDuets& kernel = kernels_[draw_.below(kernels_.size())];
    effects_.push_back(std::log1p(slowdown));
    chosen_.push_back(&kernel);
    CaseEvidence& entry = evidence_.cases.emplace_back();
    entry.candidate.id = kernel.name;
    const double q25 = kernel.base_q25[draw_.below(kernel.base_q25.size())] * (1 + slowdown);
    entry.candidate.processes = {process_from_iteration(FractionalNanoseconds(q25))};
  }

  void play(const MeasurementRequest& wanted) {
    CaseEvidence& entry = evidence_.cases[wanted.index];
    const auto ratios = consecutive(chosen_[wanted.index]->log_ratios,
                                    static_cast<std::size_t>(wanted.count), draw_);
    for (const double ratio : ratios) {
      Duet duet;
      duet.stage = wanted.kind == MeasurementRequest::Kind::confirmation ? Duet::Stage::confirmation
                                                                         : Duet::Stage::first;
      const bool is_mirrored =
          options_.drawing == SimulationOptions::Drawing::mirrored && draw_.below(2) == 1;
      const double drawn = is_mirrored ? -ratio : ratio;
      duet.base = {Nanoseconds(std::llround(kSampleNanoseconds))};
      duet.candidate = {
          Nanoseconds(std::llround(kSampleNanoseconds * std::exp(drawn + effects_[wanted.index])))};
      entry.duets.push_back(std::move(duet));
    }
  }

  void count(const Decision& decision, SimulationResult& result) const {
    bool red = false;
    std::size_t processes = 0;
    for (std::size_t i = 0; i < evidence_.cases.size(); ++i) {
      const Verdict verdict = decision.judgements[i].verdict;
      const bool regression = verdict == Verdict::regression;
      const bool slow = effects_[i] > 0;
      (slow ? result.slow : result.clean) += 1;
      if (regression) (slow ? result.found : result.alarms) += 1;
      red = red || (regression && !slow);
      result.inconclusive += verdict == Verdict::inconclusive ? 1 : 0;
      processes +=
          evidence_.cases[i].candidate.processes.size() + 2 * evidence_.cases[i].duets.size();
    }
    ++result.suites;
    result.red += red ? 1 : 0;
    result.processes_per_case +=
        static_cast<double>(processes) / static_cast<double>(evidence_.cases.size());
  }

  std::span<const RecordedDuets> kernels_;
  const SimulationOptions& options_;
  Draw& draw_;
  GateEvidence evidence_;
  std::vector<double> effects_;  // logarithms
  std::vector<const RecordedDuets*> chosen_;
};

}  // namespace

SimulationResult simulate(std::span<const RecordedDuets> kernels,
                          const SimulationOptions& options) {
  assert(!kernels.empty());
  Draw draw(options.seed);
  SimulationResult result;
  for (int i = 0; i < options.suites; ++i) Suite(kernels, options, draw).run(result);
  if (result.suites > 0) result.processes_per_case /= result.suites;
  return result;
}

namespace {

constexpr std::array<double, 4> kSlowdowns = {0.02, 0.03, 0.05, 0.10};
constexpr double kObviousSlowdown = 1.0;  // twice the time
// As in a change that affects one of many operators.
constexpr int kSlowerCases = 4;
// Power needs fewer suites than false positives: each suite has kSlowerCases of them.
constexpr int kPowerDivisor = 4;

SelfTestSummary::Kernel summarise_kernel(const RecordedDuets& record,
                                         const RecordedDuets& all_rounds) {
  const GatePolicy policy;
  SelfTestSummary::Kernel kernel;
  kernel.name = record.name;
  kernel.duets = static_cast<int>(record.log_ratios.size());
  kernel.center = median(record.log_ratios).value_or(0);
  kernel.deviation = standard_deviation(record.log_ratios).value_or(0);
  kernel.deviation_of_all_rounds = standard_deviation(all_rounds.log_ratios).value_or(0);
  const auto log = detectable_effect(kernel.deviation, policy.extended_duets,
                                     policy.detectable_error, policy.detectable_power);
  if (log) kernel.detectable = std::expm1(*log);
  return kernel;
}

std::optional<Nanoseconds> base_q25(const Duet& duet) {
  std::vector<Nanoseconds> times;
  for (const std::size_t round : counted_rounds(duet)) times.push_back(duet.base[round]);
  return quantile(times, 0.25);
}

std::vector<PowerRow> compute_power(const std::vector<RecordedDuets>& records,
                                    SimulationOptions simulation) {
  std::vector<PowerRow> power;
  for (const double slowdown : kSlowdowns) {
    simulation.slowdown = slowdown;
    power.push_back({slowdown, simulate(records, simulation)});
  }
  return power;
}

bool has_canaries(const SelfTest& test) {
  return std::ranges::any_of(test.duets,
                             [](const NullDuet& duet) { return duet.all_rounds.has_value(); });
}

}  // namespace

std::optional<NullDuet> equal_duet(const Duet& duet) {
  const auto ratio = log_ratio(duet);
  const auto q25 = base_q25(duet);
  if (!ratio || !q25) return std::nullopt;
  NullDuet equal{duet.id, *ratio, *q25, duet.iterations_per_sample};
  if (duet.base_canary.empty()) return equal;
  Duet without = duet;
  without.base_canary.clear();
  equal.all_rounds = {log_ratio(without).value_or(*ratio), base_q25(without).value_or(*q25)};
  return equal;
}

std::vector<RecordedDuets> recorded_duets(const std::vector<SelfTest>& tests, Rounds rounds) {
  std::vector<RecordedDuets> records;
  for (const SelfTest& test : tests) {
    std::map<std::string, std::size_t> places;
    for (const NullDuet& duet : test.duets) {
      const auto [place, is_new] = places.try_emplace(duet.id, records.size());
      if (is_new) records.push_back({duet.id, {}, {}});
      RecordedDuets& record = records[place->second];
      const bool all = rounds == Rounds::all && duet.all_rounds;
      const Nanoseconds q25 = all ? duet.all_rounds->base_q25 : duet.base_q25;
      record.log_ratios.push_back(all ? duet.all_rounds->log_ratio : duet.log_ratio);
      record.base_q25.push_back(static_cast<double>(q25.count()) /
                                static_cast<double>(duet.iterations_per_sample));
    }
  }
  return records;
}

Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options) {
  const std::vector<RecordedDuets> records = recorded_duets(tests);
  if (records.empty())
    return Error{"contains no duets", "", "record some with `bench selftest --record FILE`"};
  SelfTestSummary summary;
  const std::vector<RecordedDuets> all_rounds = recorded_duets(tests, Rounds::all);
  for (std::size_t i = 0; i < records.size(); ++i) {
    summary.kernels.push_back(summarise_kernel(records[i], all_rounds[i]));
  }
  SimulationOptions simulation;
  simulation.suites = options.suites;
  simulation.seed = options.seed;
  summary.clean = simulate(records, simulation);
  simulation.drawing = SimulationOptions::Drawing::recorded;
  summary.clean_as_recorded = simulate(records, simulation);
  simulation.drawing = SimulationOptions::Drawing::mirrored;
  simulation.max_duets = kDuetsOfShortBudget;
  summary.clean_cut_short = simulate(records, simulation);
  simulation.suites = std::max(1, options.suites / kPowerDivisor);
  simulation.slower = kSlowerCases;
  simulation.slowdown = kObviousSlowdown;
  summary.power_cut_short = {kObviousSlowdown, simulate(records, simulation)};
  simulation.max_duets.reset();
  summary.power = compute_power(records, simulation);
  if (std::ranges::any_of(tests, has_canaries)) {
    SelfTestSummary::Unconditioned& without = summary.all_rounds.emplace();
    without.power = compute_power(all_rounds, simulation);
    SimulationOptions clean;
    clean.suites = options.suites;
    clean.seed = options.seed;
    without.clean = simulate(all_rounds, clean);
  }
  return summary;
}

}  // namespace bench
