// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/quantile_sketch.hpp"

#include <algorithm>
#include <cmath>

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
