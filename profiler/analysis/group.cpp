// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/group.hpp"

#include "profiler/analysis/saturating.hpp"

#include <algorithm>

namespace bench::analysis {
namespace {

template <class T>
void widen(std::optional<T>& min, std::optional<T>& max, T value) {
  min = min ? std::min(*min, value) : value;
  max = max ? std::max(*max, value) : value;
}

}  // namespace

namespace {

template <class T>
std::optional<T> choose(Aggregate by, const std::optional<T>& max, const std::optional<T>& min,
                        const std::optional<T>& sum, const std::optional<T>& mean) {
  switch (by) {
    case Aggregate::max:
      return max;
    case Aggregate::min:
      return min;
    case Aggregate::sum:
      return sum;
    case Aggregate::mean:
      return mean;
  }
  return std::nullopt;
}

}  // namespace

void TimeStatistics::add(Nanoseconds duration) {
  quantiles_.add(duration.count());
  total_ = saturating_sum(total_, duration);
  widen(min_, max_, duration);
}

std::optional<Nanoseconds> TimeStatistics::mean() const {
  if (count() == 0) return std::nullopt;
  return Nanoseconds((total_.count() + count() / 2) / count());
}

std::optional<Nanoseconds> TimeStatistics::quantile(double q) const {
  const auto value = quantiles_.quantile(q);
  if (!value) return std::nullopt;
  // The middle of a bucket may be beyond the extremes, which are exact.
  return std::clamp(Nanoseconds(*value), *min_, *max_);
}

std::optional<Nanoseconds> TimeStatistics::aggregate(Aggregate by) const {
  if (count() == 0) return std::nullopt;
  return choose<Nanoseconds>(by, max_, min_, total_, mean());
}

void NumberStatistics::add(double value) {
  ++count;
  sum += value;
  widen(min, max, value);
}

void NumberStatistics::add(std::int64_t value) {
  add(static_cast<double>(value));
  ++whole_count;
  whole_sum = saturating_sum(whole_sum, value);
  widen(whole_min, whole_max, value);
}

std::optional<double> NumberStatistics::aggregate(Aggregate by) const {
  if (count == 0) return std::nullopt;
  return choose<double>(by, max, min, sum, sum / static_cast<double>(count));
}

void RatioStatistics::add(double part, double whole) {
  if (whole <= 0) return;
  part_ += part;
  whole_ += whole;
  widen(min_, max_, ratio(part, whole));
}

std::optional<double> RatioStatistics::aggregate(Aggregate by) const {
  if (!min_) return std::nullopt;
  const double of_sums = ratio(part_, whole_);  // for both sum and mean
  return choose<double>(by, max_, min_, of_sums, of_sums);
}

}  // namespace bench::analysis
