// SPDX-License-Identifier: Apache-2.0
#include "harness/store/history.hpp"

#include "harness/stats/median.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

std::vector<double> compute_differences(std::span<const RunStatistics> runs,
                                        double RunStatistics::*value) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].epoch == runs[i - 1].epoch)
      differences.push_back(runs[i].*value - runs[i - 1].*value);
  }
  return differences;
}

// The deviations of the processes' log medians within a run.
struct Scatter {
  double squares = 0;  // sum of squares about the mean
  double freedom = 0;  // degrees of freedom
};
Scatter compute_scatter(const BaselineRecord& record) {
  std::vector<double> values;
  for (const double time : iteration_times(record.measured.processes, &ProcessSummary::median))
    values.push_back(std::log(time));
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  Scatter scatter{0, count - 1};
  for (const double value : values) scatter.squares += (value - mean) * (value - mean);
  return scatter;
}

}  // namespace

std::vector<RunStatistics> run_statistics(std::span<const BaselineRecord> records) {
  std::vector<RunStatistics> runs;
  for (const BaselineRecord& record : records) {
    const auto middle = median_iteration(record.measured);
    const auto q25 = q25_iteration(record.measured);
    if (middle && q25) runs.push_back({record.epoch, std::log(*middle), std::log(*q25)});
  }
  return runs;
}

std::vector<double> median_differences(std::span<const RunStatistics> runs) {
  return compute_differences(runs, &RunStatistics::log_median);
}

std::vector<double> q25_differences(std::span<const RunStatistics> runs) {
  return compute_differences(runs, &RunStatistics::log_q25);
}

std::optional<double> between_run_sigma(std::span<const double> differences) {
  if (differences.size() < 2) return std::nullopt;
  return *scaled_deviation(differences) / std::sqrt(2.0);
}

std::optional<double> between_process_sigma(std::span<const BaselineRecord> records) {
  Scatter all;
  for (const BaselineRecord& record : records) {
    const Scatter scatter = compute_scatter(record);
    all.squares += scatter.squares;
    all.freedom += scatter.freedom;
  }
  if (all.freedom < 1) return std::nullopt;
  return std::sqrt(all.squares / all.freedom);
}

std::optional<double> moderated_sigma(std::span<const double> differences,
                                      std::optional<double> suite) {
  const auto own = between_run_sigma(differences);
  if (!own || differences.size() + 1 < kMinRuns) return suite;
  if (!suite) return own;
  const auto freedom = static_cast<double>(differences.size());
  return std::sqrt((kPriorWeight * *suite * *suite + freedom * *own * *own) /
                   (kPriorWeight + freedom));
}

std::optional<double> difference_quantile(std::span<const double> differences, double p) {
  std::vector<double> sizes;
  for (const double difference : differences) sizes.push_back(std::abs(difference));
  return quantile(sizes, p);
}

std::size_t present_runs(std::span<const RunStatistics> runs) {
  if (runs.empty()) return 0;
  return static_cast<std::size_t>(
      std::ranges::count(runs, runs.back().epoch, &RunStatistics::epoch));
}

std::optional<double> center(std::span<const RunStatistics> runs) {
  const std::size_t count = std::min(present_runs(runs), kRunsOfCenter);
  if (count == 0) return std::nullopt;
  double sum = 0;
  for (const RunStatistics& run : runs.last(count)) sum += run.log_q25;
  return sum / static_cast<double>(count);
}

}  // namespace bench
