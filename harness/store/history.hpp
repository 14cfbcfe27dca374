// SPDX-License-Identifier: Apache-2.0
// How much a case's runs differ on one class of machines, from what the store keeps of them. Pure
// functions over the records of one case, in the order of BaselineHistory. All values are
// logarithms of nanoseconds of one iteration, so that differences are shares. Formulas: gates.md
// 3.5, docs/baselines.md.
#pragma once

#include "harness/store/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

inline constexpr std::size_t kRunsOfCenter = 5;  // few enough to follow, enough to be steady
inline constexpr std::size_t kMinRuns = 5;       // for a spread of the case's own
inline constexpr double kPriorWeight = 8;        // nu_0: runs that the suite's spread counts for

// One run, of all its processes.
struct RunLevel {
  std::int64_t epoch = 0;
  double log_median = 0;  // of the processes' medians
  double log_q25 = 0;     // of the processes' lower quartiles
};
std::vector<RunLevel> run_levels(std::span<const BaselineRecord> records);

// Differences of successive runs of one epoch: a step that somebody accepted is no noise.
std::vector<double> median_differences(std::span<const RunLevel> levels);
std::vector<double> q25_differences(std::span<const RunLevel> levels);

// sigma_s, of one run among others: 1.4826 MAD(differences) / sqrt(2), MAD about their median.
// Absent below two differences.
std::optional<double> between_run_sigma(std::span<const double> differences);

// sigma_p, of one process within its run: pooled standard deviation of log medians. Absent where no
// run has two processes.
std::optional<double> between_process_sigma(std::span<const BaselineRecord> records);

// sqrt((nu_0 s_0^2 + (H - 1) sigma_s^2) / (nu_0 + H - 1)), H - 1 being the number of differences;
// `suite` is s_0, the median sigma_s of the suite's cases. s_0 alone below kMinRuns runs,
// sigma_s alone without s_0; absent where neither is known: the case counts as noisy.
std::optional<double> moderated_sigma(std::span<const double> differences,
                                      std::optional<double> suite);

// Quantile (type 7) of the absolute differences; absent without any.
std::optional<double> difference_quantile(std::span<const double> differences, double p);

// Mean of log q25 over the last kRunsOfCenter runs of the last epoch; absent without runs.
std::optional<double> center(std::span<const RunLevel> levels);
// Runs of the last epoch.
std::size_t present_runs(std::span<const RunLevel> levels);

}  // namespace bench
