// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/group.hpp"

#include "profiler/analysis/saturating.hpp"

#include <algorithm>
#include <cmath>

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
  if (count() == 1) origin_ = duration;
  const auto distance = static_cast<double>((duration - origin_).count());
  const double difference = distance - running_mean_;
  running_mean_ += difference / static_cast<double>(count());
  squares_ += difference * (distance - running_mean_);
}

std::optional<Nanoseconds> TimeStatistics::deviation() const {
  if (count() < 2) return std::nullopt;
  return Nanoseconds(std::llround(std::sqrt(squares_ / static_cast<double>(count() - 1))));
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

namespace bench {
namespace {

// Bucket i contains (gamma^(i-1), gamma^i]. Its middle 2 gamma^i / (gamma + 1) is within kAccuracy
// of both ends.
const double kGamma = (1 + QuantileSketch::kAccuracy) / (1 - QuantileSketch::kAccuracy);
const double kLogGamma = std::log(kGamma);

// The result is at most ln(2^63) / ln(gamma) = 2184.
std::int16_t find_bucket(std::int64_t value) {
  return static_cast<std::int16_t>(std::ceil(std::log(static_cast<double>(value)) / kLogGamma));
}

std::int64_t bucket_middle(std::int16_t bucket) {
  constexpr double kLargest = 0x1p63 - 1024;  // the largest double below the limit of the type
  return std::llround(std::min(2 * std::pow(kGamma, bucket) / (kGamma + 1), kLargest));
}

}  // namespace

void QuantileSketch::add(std::int64_t value) {
  ++count_;
  if (value <= 0) {
    ++not_positive_;
    return;
  }
  const std::int16_t index = find_bucket(value);
  const auto place =
      std::lower_bound(buckets_.begin(), buckets_.end(), index,
                       [](const Bucket& bucket, std::int16_t i) { return bucket.index < i; });
  if (place != buckets_.end() && place->index == index) {
    ++place->count;
  } else {
    buckets_.insert(place, Bucket{index, 1});
  }
}

std::optional<std::int64_t> QuantileSketch::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  // Nearest rank: of three values, the 95 % point is the largest.
  const auto nearest = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(count_)));
  const std::int64_t rank = std::clamp<std::int64_t>(nearest, 1, count_) - 1;
  std::int64_t seen = not_positive_;
  if (rank < seen) return 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (rank < seen) return bucket_middle(bucket.index);
  }
  return bucket_middle(buckets_.back().index);
}

}  // namespace bench
