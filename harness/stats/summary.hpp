// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples, which need not be sorted. Functions return nullopt for empty input.
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Returns the type-7 quantile (linear interpolation, R's default), rounded to a nanosecond.
// Requires 0 <= p <= 1.
std::optional<Nanoseconds> quantile(std::span<const Nanoseconds> samples, double p);
std::optional<Nanoseconds> median(std::span<const Nanoseconds> samples);
// Returns the median absolute deviation from the median, unscaled.
std::optional<Nanoseconds> median_absolute_deviation(std::span<const Nanoseconds> samples);

// A confidence interval of a median: two order statistics.
struct MedianInterval {
  Nanoseconds low;
  Nanoseconds high;
  double confidence;  // exact coverage, from the binomial distribution
};
// Returns the narrowest symmetric pair of order statistics whose exact coverage is at least
// `coverage`. Returns nullopt if even (min, max) covers less. For example, 5 samples and a coverage
// of 0.9 give (min, max), with a confidence of 0.9375.
std::optional<MedianInterval> median_interval(std::span<const Nanoseconds> samples,
                                              double coverage);

// Returns (high - low) / 2 / median for median_interval(): the value that `bench run` compares with
// the key `precision`. Returns nullopt if there is no interval or the median is 0.
std::optional<double> relative_half_width(std::span<const Nanoseconds> samples, double coverage);

// Returns the median; for an even number of values, the mean of the two middle values.
std::optional<double> median(std::span<const double> values);
// Returns the type-7 quantile (linear interpolation, R's default). Requires 0 <= p <= 1.
std::optional<double> quantile(std::span<const double> values, double p);
// Returns 1.4826 times the median absolute deviation from the median, which estimates the standard
// deviation of normally distributed values.
std::optional<double> scaled_deviation(std::span<const double> values);

}  // namespace bench
