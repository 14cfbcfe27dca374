// SPDX-License-Identifier: Apache-2.0
// How much two independent samples differ in place (log times of processes, measured apart): the
// Hodges-Lehmann estimate for two samples and its interval from the exact distribution of Mann and
// Whitney's U. Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 4.2-4.3.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bench {

// Median of all differences candidate - base; absent where a sample is empty.
std::optional<double> shift(std::span<const double> base, std::span<const double> candidate);

struct ShiftInterval {
  double low = 0;
  double high = 0;
  double confidence = 0;  // exact coverage where no two values are equal
};
// The narrowest symmetric pair of order statistics of those differences with coverage >=
// `coverage`; absent where even the outermost pair covers less. Samples of up to kMaxShiftSamples
// values.
std::optional<ShiftInterval> shift_interval(std::span<const double> base,
                                            std::span<const double> candidate, double coverage);
inline constexpr std::size_t kMaxShiftSamples = 200;

}  // namespace bench
