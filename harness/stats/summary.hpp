// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples, which need not be sorted. Functions return nullopt for empty input.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Type-7 quantile (linear interpolation, R's default), rounded to a nanosecond; 0 <= p <= 1.
std::optional<Nanoseconds> quantile(std::span<const Nanoseconds> samples, double p);
std::optional<Nanoseconds> median(std::span<const Nanoseconds> samples);
// Median absolute deviation from the median, unscaled.
std::optional<Nanoseconds> median_absolute_deviation(std::span<const Nanoseconds> samples);

// A confidence interval of a median: two order statistics.
struct MedianInterval {
  Nanoseconds low;
  Nanoseconds high;
  double
      confidence;  // exact coverage of the pair of order statistics, from the binomial distribution
};
// Returns the narrowest symmetric pair of order statistics with exact coverage >= `coverage`.
// Returns nullopt if even (min, max) covers less. For 5 samples and 0.9: (min, max) with 0.9375.
std::optional<MedianInterval> median_interval(std::span<const Nanoseconds> samples,
                                              double coverage);

// Returns (high - low) / 2 / median for that interval, the value that is compared with `precision`.
// Returns nullopt if there is no interval or the median is 0.
std::optional<double> relative_half_width(std::span<const Nanoseconds> samples, double coverage);

}  // namespace bench
