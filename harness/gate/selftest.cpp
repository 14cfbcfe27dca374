// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/selftest.hpp"

#include "harness/gate/paired.hpp"
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
// As in a change that touches one operator of many.
constexpr int kSlowerCases = 4;
// Power needs fewer suites than alarms: each has kSlowerCases of them.
constexpr int kPowerDivisor = 4;

SelfTestSummary::Kernel kernel_of(const RecordedDuets& record) {
  const GatePolicy policy;
  SelfTestSummary::Kernel kernel;
  kernel.name = record.name;
  kernel.duets = static_cast<int>(record.log_ratios.size());
  kernel.center = median(record.log_ratios).value_or(0);
  kernel.deviation = standard_deviation(record.log_ratios).value_or(0);
  const auto log = detectable_effect(kernel.deviation, policy.extended_duets,
                                     policy.detectable_error, policy.detectable_power);
  if (log) kernel.detectable = std::expm1(*log);
  return kernel;
}

}  // namespace

std::optional<EqualDuet> equal_duet(const Duet& duet) {
  const auto ratio = log_ratio(duet);
  const auto q25 = quantile(duet.base, 0.25);
  if (!ratio || !q25) return std::nullopt;
  return EqualDuet{duet.id, *ratio, *q25, duet.iterations_per_sample};
}

std::vector<RecordedDuets> recorded_duets(const std::vector<SelfTest>& tests) {
  std::vector<RecordedDuets> records;
  for (const SelfTest& test : tests) {
    std::map<std::string, std::size_t> places;
    for (const EqualDuet& duet : test.duets) {
      const auto [place, is_new] = places.try_emplace(duet.id, records.size());
      if (is_new) records.push_back({duet.id, {}, {}});
      RecordedDuets& record = records[place->second];
      record.log_ratios.push_back(duet.log_ratio);
      record.base_q25.push_back(static_cast<double>(duet.base_q25.count()) /
                                static_cast<double>(duet.iterations_per_sample));
    }
  }
  return records;
}

Result<SelfTestSummary> summarise(const std::vector<SelfTest>& tests,
                                  const SelfTestOptions& options) {
  const std::vector<RecordedDuets> records = recorded_duets(tests);
  if (records.empty()) return Error{"holds no duets", "", "bench selftest --record makes them"};
  SelfTestSummary summary;
  for (const RecordedDuets& record : records) summary.kernels.push_back(kernel_of(record));
  SimulationOptions simulation;
  simulation.suites = options.suites;
  simulation.seed = options.seed;
  summary.clean = simulate(records, simulation);
  simulation.stored_runs = 0;
  summary.clean_without_store = simulate(records, simulation);
  simulation.drawing = SimulationOptions::Drawing::recorded;
  summary.clean_as_recorded = simulate(records, simulation);
  simulation.drawing = SimulationOptions::Drawing::mirrored;
  simulation.max_duets = simulation.policy.duets;
  summary.clean_cut_short = simulate(records, simulation);
  simulation.suites = std::max(1, options.suites / kPowerDivisor);
  simulation.slower = kSlowerCases;
  simulation.slowdown = kObviousSlowdown;
  summary.power_cut_short = {kObviousSlowdown, simulate(records, simulation)};
  simulation.max_duets.reset();
  simulation.stored_runs = SimulationOptions().stored_runs;
  for (const double slowdown : kSlowdowns) {
    simulation.slowdown = slowdown;
    summary.power.push_back({slowdown, simulate(records, simulation)});
  }
  return summary;
}

}  // namespace bench
