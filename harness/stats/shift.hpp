// SPDX-License-Identifier: Apache-2.0
// Computes the shift between two independent samples (log times of processes that ran at different
// times): the Hodges-Lehmann estimate for two samples, and its interval from the exact distribution
// of Mann and Whitney's U. See Hollander, Wolfe & Chicken, Nonparametric Statistical Methods,
// 4.2-4.3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bench {

// Returns the median of all differences candidate - base; nullopt if a sample is empty.
std::optional<double> shift(std::span<const double> base, std::span<const double> candidate);

struct ShiftInterval {
  double low = 0;
  double high = 0;
  double confidence = 0;  // coverage; exact if no two values are equal
};
// Returns the narrowest symmetric pair of order statistics of all differences candidate - base
// whose coverage is at least `coverage`. Returns nullopt if even the outermost pair covers less.
// Each sample may have up to kMaxShiftSamples values.
std::optional<ShiftInterval> shift_interval(std::span<const double> base,
                                            std::span<const double> candidate, double coverage);
inline constexpr std::size_t kMaxShiftSamples = 200;

}  // namespace bench
