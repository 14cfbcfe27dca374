// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include "harness/judge/paired.hpp"
#include "harness/stats/detectable_effect.hpp"
#include "harness/stats/median.hpp"
#include "harness/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace bench {
namespace {

constexpr std::array<double, 4> kSlowdowns = {0.02, 0.03, 0.05, 0.10};
constexpr double kObviousSlowdown = 1.0;  // twice the time
// As in a change that affects one of many operators.
constexpr int kSlowerCases = 4;
// Power needs fewer suites than false positives: each suite has kSlowerCases of them.
constexpr int kPowerDivisor = 4;

SelfTestSummary::Kernel kernel_of(const RecordedDuets& record, const RecordedDuets& all_rounds) {
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

std::vector<PowerRow> power_of(const std::vector<RecordedDuets>& records,
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
                             [](const EqualDuet& duet) { return duet.all_rounds.has_value(); });
}

}  // namespace

std::optional<EqualDuet> equal_duet(const Duet& duet) {
  const auto ratio = log_ratio(duet);
  const auto q25 = base_q25(duet);
  if (!ratio || !q25) return std::nullopt;
  EqualDuet equal{duet.id, *ratio, *q25, duet.iterations_per_sample};
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
    for (const EqualDuet& duet : test.duets) {
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
    summary.kernels.push_back(kernel_of(records[i], all_rounds[i]));
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
  summary.power = power_of(records, simulation);
  if (std::ranges::any_of(tests, has_canaries)) {
    SelfTestSummary::Unconditioned& without = summary.all_rounds.emplace();
    without.power = power_of(all_rounds, simulation);
    SimulationOptions clean;
    clean.suites = options.suites;
    clean.seed = options.seed;
    without.clean = simulate(all_rounds, clean);
  }
  return summary;
}

}  // namespace bench
