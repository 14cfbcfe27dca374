// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/change_points.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>

namespace bench {
namespace {

// For each range [begin, end) of values: the sum of the distances between all pairs in the range.
class PairDistances {
 public:
  explicit PairDistances(std::size_t size) : size_(size), sums_((size + 1) * (size + 1), 0.0) {}

  void compute(std::span<const double> values) {
    for (std::size_t begin = size_; begin-- > 0;) {
      const double first = values[begin];
      double from_first = 0;
      double* const row = &sums_[begin * (size_ + 1)];
      const double* const next = row + size_ + 1;
      for (std::size_t end = begin + 2; end <= size_; ++end) {
        from_first += std::abs(values[end - 1] - first);
        row[end] = next[end] + from_first;
      }
    }
  }
  double sum(std::size_t begin, std::size_t end) const { return sums_[begin * (size_ + 1) + end]; }

 private:
  std::size_t size_;
  std::vector<double> sums_;
};

struct Split {
  std::size_t index = 0;
  double distance = 0;
};

// Finds the largest scaled energy distance between [0, index) and [index, end) over all `index` and
// `end`. If `end` were fixed at the last value, a change that was undone later could stay hidden.
class SplitFinder {
 public:
  explicit SplitFinder(std::size_t size) : distances_(size), inverse_(size + 1, 0.0) {
    for (std::size_t i = 1; i <= size; ++i) inverse_[i] = 1 / static_cast<double>(i);
  }

  // For sides of a and b values, with sums of distances A and B within the sides and C across them,
  // the distance is a b / (a + b) (2 C / (a b) - 2 A / (a (a - 1)) - 2 B / (b (b - 1))).
  Split find(std::span<const double> values) {
    distances_.compute(values);
    Split best{kMinLevelRuns, -1};
    for (std::size_t index = kMinLevelRuns; index + kMinLevelRuns <= values.size(); ++index) {
      const auto before = static_cast<double>(index);
      const double within_before = distances_.sum(0, index);
      const double scaled_within_before = within_before * inverse_[index - 1];
      for (std::size_t end = index + kMinLevelRuns; end <= values.size(); ++end) {
        const auto after = static_cast<double>(end - index);
        const double within_after = distances_.sum(index, end);
        const double across = distances_.sum(0, end) - within_before - within_after;
        const double distance = 2 * inverse_[end] *
                                (across - after * scaled_within_before -
                                 before * within_after * inverse_[end - index - 1]);
        if (distance > best.distance) best = {index, distance};
      }
    }
    return best;
  }

 private:
  PairDistances distances_;
  std::vector<double> inverse_;  // 1 / i
};

double median_or_zero(std::span<const double> values) { return median(values).value_or(0); }

// Appends the change points of `values`, whose first value has the index `begin` in the series.
void add_changes(std::span<const double> values, std::size_t begin,
                 const std::optional<ChangePoint>& strongest, const SegmentationOptions& options,
                 std::vector<ChangePoint>& changes) {
  if (!strongest || strongest->p_value > options.level) return;
  const auto before = values.first(strongest->index);
  const auto after = values.subspan(strongest->index);
  add_changes(before, begin, strongest_change(before, options.test), options, changes);
  changes.push_back({begin + strongest->index, 0, strongest->p_value});
  add_changes(after, begin + strongest->index, strongest_change(after, options.test), options,
              changes);
}

// Sets the effect of each change from the medians of the adjacent levels.
void set_effects(std::span<const double> values, std::vector<ChangePoint>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : changes[i - 1].index;
    const std::size_t end = i + 1 == changes.size() ? values.size() : changes[i + 1].index;
    const std::size_t index = changes[i].index;
    changes[i].effect = median_or_zero(values.subspan(index, end - index)) -
                        median_or_zero(values.subspan(begin, index - begin));
  }
}

double square(double value) { return value * value; }

// Returns the sum of the squared deviations from the mean.
double sum_squares_about_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += square(value - mean);
  return squares;
}

// Returns the sum of the squared deviations from the line that fits best.
double sum_squares_about_line(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double middle = (count - 1) / 2;
  double product = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    product += (static_cast<double>(i) - middle) * values[i];
  const double positions = count * (square(count) - 1) / 12;  // sum of (i - middle)^2
  return sum_squares_about_mean(values) - square(product) / positions;
}

double kendall_statistic(std::span<const double> values) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j)
      sum += static_cast<int>(values[j] > values[i]) - static_cast<int>(values[j] < values[i]);
  }
  return static_cast<double>(sum);
}

}  // namespace

std::optional<ChangePoint> strongest_change(std::span<const double> values,
                                            const PermutationOptions& options) {
  assert(values.size() <= kMaxSeries);
  if (values.size() < 2 * kMinLevelRuns) return std::nullopt;
  SplitFinder finder(values.size());
  const std::size_t index = finder.find(values).index;
  const auto statistic = [&](std::span<const double> order) { return finder.find(order).distance; };
  const double p_value = permutation_p_value({values.begin(), values.end()}, options, statistic);
  return ChangePoint{
      index, median_or_zero(values.subspan(index)) - median_or_zero(values.first(index)), p_value};
}

std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const std::optional<ChangePoint>& strongest,
                                       const SegmentationOptions& options) {
  std::vector<ChangePoint> changes;
  add_changes(values, 0, strongest, options, changes);
  set_effects(values, changes);
  while (!changes.empty()) {
    const auto smallest = std::ranges::min_element(
        changes, {}, [](const ChangePoint& change) { return std::abs(change.effect); });
    if (std::abs(smallest->effect) >= options.min_effect) break;
    changes.erase(smallest);
    set_effects(values, changes);
  }
  return changes;
}

bool is_gradual(std::span<const double> values, std::size_t index) {
  assert(index > 0 && index < values.size());
  const double levels =
      sum_squares_about_mean(values.first(index)) + sum_squares_about_mean(values.subspan(index));
  return sum_squares_about_line(values) < levels;
}

double upward_trend_p_value(std::span<const double> values, const PermutationOptions& options) {
  assert(values.size() <= kMaxSeries);
  return permutation_p_value(
      {values.begin(), values.end()}, options,
      [](std::span<const double> order) { return kendall_statistic(order); });
}

}  // namespace bench
