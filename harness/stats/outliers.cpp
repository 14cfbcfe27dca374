// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/outliers.hpp"

#include "harness/stats/error_control.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

// The values in ascending order, of which those at both ends were removed. Sums are of distances
// from the median, so that they lose no digits.
class RemainingValues {
 public:
  explicit RemainingValues(std::span<const double> values) : order_(values.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t index) { return values[index]; });
    origin_ = values[order_[order_.size() / 2]];
    for (const std::size_t index : order_) {
      distances_.push_back(values[index] - origin_);
      sum_ += distances_.back();
      squares_ += distances_.back() * distances_.back();
    }
    end_ = order_.size();
  }

  std::size_t size() const { return end_ - begin_; }
  double mean() const { return sum_ / static_cast<double>(size()); }
  double centre() const { return origin_ + mean(); }
  double deviation() const {
    const double variance = (squares_ - sum_ * mean()) / static_cast<double>(size() - 1);
    return std::sqrt(std::max(variance, 0.0));
  }
  bool is_high() const { return distances_[end_ - 1] - mean() >= mean() - distances_[begin_]; }
  double largest_distance() const {
    return is_high() ? distances_[end_ - 1] - mean() : mean() - distances_[begin_];
  }
  // Removes the value with this distance.
  void remove(Outliers& removed) {
    const bool high = is_high();
    const std::size_t at = high ? --end_ : begin_++;
    (high ? removed.high : removed.low).push_back(order_[at]);
    sum_ -= distances_[at];
    squares_ -= distances_[at] * distances_[at];
  }
  void describe(Outliers& outliers) const {
    outliers.siblings = size();
    outliers.centre = centre();
    outliers.deviation = deviation();
  }

 private:
  std::vector<std::size_t> order_;
  std::vector<double> distances_;
  double origin_ = 0, sum_ = 0, squares_ = 0;
  std::size_t begin_ = 0, end_ = 0;
};

// Returns whether the distance exceeds the critical value for so many values. The formula of the
// critical value is solved for t, because a probability is cheaper than a quantile.
bool is_critical(double distance, double deviation, std::size_t count, double alpha) {
  const auto m = static_cast<double>(count);
  if (distance <= 0) return false;
  // The largest possible ratio: all other values are equal.
  const double ratio = distance / deviation;
  const double rest = (m - 1) * (m - 1) - m * ratio * ratio;
  if (!(rest > 0)) return true;
  const double t = ratio * std::sqrt(m * (m - 2) / rest);
  return student_t_tail(t, static_cast<int>(count) - 2) < alpha / m;
}

}  // namespace

Outliers find_outliers(std::span<const double> values, double alpha) {
  Outliers found;
  if (values.empty()) return found;
  RemainingValues remaining(values);
  if (values.size() < kMinSiblings) {
    found.siblings = values.size();
    found.centre = remaining.centre();
    return found;
  }
  remaining.describe(found);
  Outliers removed;
  for (std::size_t step = 0; step < values.size() / 4; ++step) {
    const bool critical =
        is_critical(remaining.largest_distance(), remaining.deviation(), remaining.size(), alpha);
    remaining.remove(removed);
    if (!critical) continue;
    found.high = removed.high;
    found.low = removed.low;
    remaining.describe(found);
  }
  return found;
}

std::optional<double> detectable_outlier(std::size_t siblings, double deviation, double alpha,
                                         double power) {
  if (siblings + 1 < kMinSiblings) return std::nullopt;
  const auto count = static_cast<double>(siblings);
  const int degrees = static_cast<int>(siblings) - 1;
  const double t =
      student_t_quantile(1 - alpha / (count + 1), degrees) + student_t_quantile(power, degrees);
  return t * deviation * std::sqrt(1 + 1 / count);
}

double interquartile_mean(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  return std::accumulate(values.begin() + quarter, values.end() - quarter, 0.0) /
         static_cast<double>(values.size() - 2 * static_cast<std::size_t>(quarter));
}

}  // namespace bench
