// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/screen.hpp"

#include "harness/stats/median.hpp"
#include "harness/store/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

constexpr double kOneSided95 = 1.645;  // quantile of the normal distribution
// One process does not show how processes differ. A gate with a base runs only one in stage 1.
constexpr std::size_t kMinProcesses = 2;

double uncertainty(const StoredCase& stored) {
  // The store's center is a mean of these runs; its own error adds to that of a new run.
  const double runs = std::clamp(stored.runs, 1, static_cast<int>(kRunsOfCenter));
  const double normal = kOneSided95 * stored.sigma * std::sqrt(1 + 1 / runs);
  return std::max(normal, stored.q95.value_or(0));
}

Screened suspect(std::string reason) {
  return {Screened::Result::suspect, std::nullopt, std::nullopt, std::move(reason)};
}

}  // namespace

Screened screen(const CaseEvidence& entry, const GateSettings& settings,
                const std::optional<std::string>& moved) {
  if (moved) return suspect(*moved);
  if (!entry.stored) return suspect("the store has no run of this case");
  if (entry.stored->incomparable)
    return suspect("the stored run is not comparable: " + *entry.stored->incomparable);
  const std::optional<double> q25 = median(entry.q25);
  if (entry.is_interrupted) return suspect("the candidate's run was cut short");
  if (entry.unsteady) return suspect("its times were not steady at the end of the warm-up");
  if (!q25 || *q25 <= 0 || entry.stored->runs == 0) return suspect("there are no times to compare");
  if (entry.q25.size() < kMinProcesses) return suspect("");
  Screened result;
  result.excess = std::log(*q25) - entry.stored->center;
  const double noise = uncertainty(*entry.stored);
  result.limit = std::log1p(settings.detect) - noise;
  // An improvement is worth duets only if it is clearly one.
  const bool faster = *result.excess < -(std::log1p(settings.detect) + noise);
  if (*result.excess <= *result.limit && !faster) {
    result.result = Screened::Result::clear;
    return result;
  }
  result.reason =
      *result.limit < 0
          ? fmt::format("too noisy for the screen: its run-to-run variation is {:.1f} %",
                        100 * std::expm1(noise))
          : fmt::format("{:+.1f} % against the store", 100 * std::expm1(*result.excess));
  return result;
}

}  // namespace bench
