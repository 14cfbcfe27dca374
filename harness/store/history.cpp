// SPDX-License-Identifier: Apache-2.0
#include "harness/store/history.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

// Returns the number of runs whose mean is center().
std::size_t runs_of_center(std::span<const RunStatistics> runs) {
  return std::min(present_runs(runs), kRunsOfCenter);
}

// The runs that can be compared at equal speed with the last one.
struct RunsAtEqualSpeed {
  std::vector<TimesBySpeed> times;
  std::vector<std::int64_t> epochs;
};

RunsAtEqualSpeed collect_times(std::span<const BaselineRecord> records) {
  RunsAtEqualSpeed all;
  for (const BaselineRecord& record : records) {
    if (!record.measured.by_speed) continue;
    all.times.push_back(*record.measured.by_speed);
    all.epochs.push_back(record.epoch);
  }
  const std::vector<bool> is_beside =
      EqualSpeedFit::find_runs_beside(all.times, all.times.size() - 1);
  RunsAtEqualSpeed comparable;
  for (std::size_t i = 0; i < all.times.size(); ++i) {
    if (!is_beside[i]) continue;
    comparable.times.push_back(std::move(all.times[i]));
    comparable.epochs.push_back(all.epochs[i]);
  }
  return comparable;
}

StoredStatistics statistics_at_equal_speed(std::span<const BaselineRecord> records) {
  const RunsAtEqualSpeed comparable = collect_times(records);
  const EqualSpeedFit fit(comparable.times);
  StoredStatistics stored;
  const std::vector<double> levels = fit.levels();
  for (std::size_t i = 0; i < levels.size(); ++i)
    stored.runs.push_back({comparable.epochs[i], levels[i]});
  std::vector<std::size_t> recent;
  for (std::size_t i = levels.size() - runs_of_center(stored.runs); i < levels.size(); ++i)
    recent.push_back(i);
  stored.recent = fit.merge(recent);
  return stored;
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

StoredStatistics run_statistics(std::span<const BaselineRecord> records) {
  if (!records.empty() && records.back().measured.by_speed)
    return statistics_at_equal_speed(records);
  StoredStatistics stored;
  for (const BaselineRecord& record : records) {
    if (const auto time = median_iteration(record.measured))
      stored.runs.push_back({record.epoch, std::log(*time)});
  }
  return stored;
}

std::vector<double> run_differences(std::span<const RunStatistics> runs) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].epoch == runs[i - 1].epoch)
      differences.push_back(runs[i].log_time - runs[i - 1].log_time);
  }
  return differences;
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
  const std::size_t count = runs_of_center(runs);
  if (count == 0) return std::nullopt;
  double sum = 0;
  for (const RunStatistics& run : runs.last(count)) sum += run.log_time;
  return sum / static_cast<double>(count);
}

}  // namespace bench
