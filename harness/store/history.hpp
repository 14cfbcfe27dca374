// SPDX-License-Identifier: Apache-2.0
// Computes the run-to-run variation of a case on one machine class from its stored records. The
// functions are pure and expect the records of one case in the order of BaselineHistory. All values
// are logarithms of nanoseconds per iteration, so differences are approximately fractions.
// docs/baselines.md has the formulas.
#pragma once

#include "harness/store/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Number of runs whose mean center() returns: few enough to follow changes, enough to be stable
inline constexpr std::size_t kRunsOfCenter = 5;
inline constexpr std::size_t kMinRuns = 5;  // minimum number of runs for a case's own sigma
inline constexpr double kPriorWeight = 8;   // nu_0: weight of the suite's sigma, in runs

// The time of one run of a case.
struct RunStatistics {
  std::int64_t epoch = 0;
  double log_time = 0;
};
// The stored runs of a case.
struct StoredStatistics {
  std::vector<RunStatistics> runs;
  // The last kRunsOfCenter runs of the last epoch as one; its level is center(runs). nullopt
  // without canaries.
  std::optional<TimesBySpeed> recent;
};
// Returns one entry per comparable run. If the last run has canaries, times are those at equal
// speed of the machine, at the most frequent one of all runs (harness/stats/equal_speed.hpp). Runs
// without canaries, and runs whose threads were never as far apart as those of the last one, are
// then left out. Otherwise, the median of the processes' medians represents a run.
StoredStatistics run_statistics(std::span<const BaselineRecord> records);

// Returns the differences between successive runs within one epoch. A difference between epochs is
// an accepted change, not noise.
std::vector<double> run_differences(std::span<const RunStatistics> runs);

// Returns sigma_s, the standard deviation between runs: 1.4826 MAD(differences) / sqrt(2), with the
// MAD about the median. Returns nullopt for fewer than two differences.
std::optional<double> between_run_sigma(std::span<const double> differences);

// Returns sigma_p, the standard deviation between processes of a run: the pooled standard deviation
// of their log medians. Returns nullopt if no run has two processes.
std::optional<double> between_process_sigma(std::span<const BaselineRecord> records);

// Returns a case's sigma, moderated by that of the suite: sqrt((nu_0 s_0^2 + (H - 1) sigma_s^2) /
// (nu_0 + H - 1)). H - 1 is the number of differences. `suite` is s_0, the median sigma_s over the
// suite's cases. Returns s_0 if there are fewer than kMinRuns runs, and otherwise sigma_s if s_0 is
// unknown. Returns nullopt if neither applies; such a case counts as noisy.
std::optional<double> moderated_sigma(std::span<const double> differences,
                                      std::optional<double> suite);

// Returns a quantile (type 7) of the absolute differences; nullopt if there are none.
std::optional<double> difference_quantile(std::span<const double> differences, double p);

// Returns the mean of log_time over the last kRunsOfCenter runs of the last epoch. Returns nullopt
// without runs.
std::optional<double> center(std::span<const RunStatistics> runs);
// Returns the number of runs in the last epoch.
std::size_t present_runs(std::span<const RunStatistics> runs);

}  // namespace bench
