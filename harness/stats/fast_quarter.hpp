// SPDX-License-Identifier: Apache-2.0
// The fast quarter of a case's processes. Disturbances of a machine only add time, so the fast
// processes of two runs agree far better than their medians do. On a shared machine, the standard
// deviation between runs of one program is typically a half to a third of that of the medians
// (docs/decisions/0026-compare-by-the-fast-quarter.md).
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace bench {

struct FastQuarter {
  double location = 0;          // lower quartile of the values
  double median_minus_min = 0;  // the smaller, the better the fast processes agree
};
// Fewer values than this have no fast quarter.
inline constexpr std::size_t kMinFastProcesses = 3;
// `values`: logarithms of the processes' times. Returns nullopt for fewer than kMinFastProcesses.
std::optional<FastQuarter> fast_quarter(std::span<const double> values);

struct FastShift {
  double effect = 0;  // difference of the locations
  double low = 0, high = 0;
};
// Returns the shift from `base` to `candidate`, with an interval that was calibrated on pairs of
// runs of one program. The candidate's median_minus_min widens only the low end, and the base's
// only the high end: a disturbance can make only its own side look slower.
FastShift fast_shift(const FastQuarter& base, const FastQuarter& candidate);
// Returns the smallest effect, in either direction, whose interval does not contain 0 if both sides
// have this median_minus_min: the minimum detectable effect of a comparison.
double minimum_detectable_effect(const FastQuarter& side);

}  // namespace bench
