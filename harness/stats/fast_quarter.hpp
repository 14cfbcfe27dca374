// SPDX-License-Identifier: Apache-2.0
// Comparison of runs by the fast quarter of a case's processes. Disturbances of a machine only add
// time, so the fast processes of two runs agree far better than the medians. On a shared machine,
// the lower quartile of one program typically varies between runs by a third to a half of what the
// median varies (docs/decisions/0026-compare-by-the-fast-quarter.md).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bench {

struct FastQuarter {
  double location = 0;          // lower quartile of the values
  double median_minus_min = 0;  // small if the fast processes agree
};
// Minimum number of processes for a fast quarter.
inline constexpr std::size_t kMinFastProcesses = 3;
// Returns the fast quarter of `values`, the logarithms of the processes' times. Returns nullopt for
// fewer than kMinFastProcesses values.
std::optional<FastQuarter> fast_quarter(std::span<const double> values);

// A shift between two fast quarters with its interval, in logarithms.
struct FastShift {
  double effect = 0;  // difference of the locations
  double low = 0, high = 0;
};
// Returns the shift from `base` to `candidate`. The interval was calibrated on pairs of runs of one
// program. The candidate's median_minus_min widens only the low end, and the base's only the high
// end, because a disturbance can only make its own side look slower.
FastShift fast_shift(const FastQuarter& base, const FastQuarter& candidate);
// Returns the minimum detectable effect of a comparison: the smallest effect, in either direction,
// whose interval does not contain 0 if both sides have the median_minus_min of `side`.
double minimum_detectable_effect(const FastQuarter& side);

}  // namespace bench
