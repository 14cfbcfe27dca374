// SPDX-License-Identifier: Apache-2.0
// Order statistics of samples. Inputs need not be sorted; empty input is a mistake of the caller
// unless optional is returned.
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

// A median that does not lose its interval.
struct MedianInterval {
  Nanoseconds low;
  Nanoseconds high;
  double
      confidence;  // exact coverage of the pair of order statistics, from the binomial distribution
};
// The narrowest symmetric pair of order statistics with exact coverage >= `coverage`; absent when
// even (min, max) covers less. For 5 samples and 0.9: (min, max) with 0.9375.
std::optional<MedianInterval> median_interval(std::span<const Nanoseconds> samples,
                                              double coverage);

// (high - low) / 2 / median of that interval: what `precision` is compared with. Absent when the
// interval is, or the median is 0.
std::optional<double> relative_half_width(std::span<const Nanoseconds> samples, double coverage);

}  // namespace bench
