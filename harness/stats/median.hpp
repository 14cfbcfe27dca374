// SPDX-License-Identifier: Apache-2.0
// Order statistics of numbers. They need not be sorted; absent without any.
#pragma once

#include <optional>
#include <span>

namespace bench {

// Mean of the two middle values for an even number.
std::optional<double> median(std::span<const double> values);
// Type-7 quantile (linear interpolation, R's default); 0 <= p <= 1.
std::optional<double> quantile(std::span<const double> values, double p);
// 1.4826 times the median absolute deviation from the median: the standard deviation, for normal
// values.
std::optional<double> scaled_deviation(std::span<const double> values);

}  // namespace bench
