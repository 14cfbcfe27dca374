// SPDX-License-Identifier: Apache-2.0
// Order statistics of numbers, which need not be sorted. Functions return nullopt if there are
// none.
#pragma once

#include <optional>
#include <span>

namespace bench {

// For an even number of values, the mean of the two middle ones.
std::optional<double> median(std::span<const double> values);
// Type-7 quantile (linear interpolation, R's default); 0 <= p <= 1.
std::optional<double> quantile(std::span<const double> values, double p);
// 1.4826 times the median absolute deviation from the median: the standard deviation, for normal
// values.
std::optional<double> scaled_deviation(std::span<const double> values);

}  // namespace bench
