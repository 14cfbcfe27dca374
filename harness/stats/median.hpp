// SPDX-License-Identifier: Apache-2.0
// Order statistics of numbers, which need not be sorted. Functions return nullopt for empty input.
#pragma once

#include <optional>
#include <span>

namespace bench {

// Returns the median; for an even number of values, the mean of the two middle values.
std::optional<double> median(std::span<const double> values);
// Returns the type-7 quantile (linear interpolation, R's default). Requires 0 <= p <= 1.
std::optional<double> quantile(std::span<const double> values, double p);
// Returns 1.4826 times the median absolute deviation from the median, which estimates the standard
// deviation of normally distributed values.
std::optional<double> scaled_deviation(std::span<const double> values);

}  // namespace bench
