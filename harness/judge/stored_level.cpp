// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/stored_level.hpp"

#include "harness/stats/median.hpp"

#include <cassert>
#include <optional>

namespace bench {
namespace {

void set_level(StoredCase& stored, std::span<const RunLevel> levels,
               std::optional<double> suite_sigma) {
  const std::optional<double> sigma = moderated_sigma(median_differences(levels), suite_sigma);
  const std::vector<double> differences = q25_differences(levels);
  stored.runs = sigma ? static_cast<int>(present_runs(levels)) : 0;
  stored.center = center(levels).value_or(0);
  stored.sigma = sigma.value_or(0);
  stored.q95 = difference_quantile(differences, 0.95);
  stored.q99 = difference_quantile(differences, 0.99);
}

}  // namespace

void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const std::vector<RunLevel>> levels) {
  assert(cases.size() == levels.size());
  std::vector<double> sigmas;
  for (const std::vector<RunLevel>& runs : levels) {
    if (const auto sigma = between_run_sigma(median_differences(runs))) sigmas.push_back(*sigma);
  }
  // With few runs of a case, the suite's median sigma replaces the case's own.
  const std::optional<double> suite_sigma = median(sigmas);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::optional<StoredCase>& stored = cases[i].stored;
    if (stored && !stored->incomparable) set_level(*stored, levels[i], suite_sigma);
  }
}

}  // namespace bench
