// SPDX-License-Identifier: Apache-2.0
// Change points of a series: where its values begin to have another distribution. E-divisive
// (Matteson & James, A Nonparametric Approach for Multiple Change Point Analysis of Multivariate
// Data, J. Am. Stat. Assoc. 109, 2014, with exponent 1): the energy distance between the values
// before and after a position locates a change, a permutation test decides whether it is one, and
// both parts are then searched in the same way. No distribution is assumed, and equal values are
// allowed.
#pragma once

#include "harness/stats/permutation.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Each permutation of a series of n values takes n^2 steps. Callers pass the last values of a
// longer series.
inline constexpr std::size_t kMaxSeries = 128;

// Two values are too few to distinguish a change from two disturbed runs.
inline constexpr std::size_t kMinLevelRuns = 3;

struct ChangePoint {
  std::size_t index = 0;  // first value of the new level; at least kMinLevelRuns from both ends
  double effect = 0;      // median after it minus median before it, up to the next change points
  double p_value = 1;
  friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
};

// Returns the position with the largest energy distance and the p-value of the hypothesis that the
// series has no change. Returns nullopt for fewer than 2 kMinLevelRuns values. At most kMaxSeries
// values.
std::optional<ChangePoint> strongest_change(std::span<const double> values,
                                            const PermutationOptions& options);

struct SegmentationOptions {
  PermutationOptions test = {};
  double level = 0.01;    // maximum p-value of a change
  double min_effect = 0;  // smaller differences between adjacent levels are joined again
};
// Returns all change points in their order. `strongest`: strongest_change() of all values with the
// same test. At most kMaxSeries values.
std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const std::optional<ChangePoint>& strongest,
                                       const SegmentationOptions& options);

// Whether a straight line fits the values better than two levels that change at `index`, by least
// squares. True for a creep, which has no day on which it happened. 0 < index < values.size().
bool is_gradual(std::span<const double> values, std::size_t index);

// p-value of the hypothesis that the values have no upward trend: Mann's test with Kendall's S
// (Mann, Econometrica 13, 1945) and its permutation distribution, which is valid for equal values.
// At most kMaxSeries values.
double upward_trend_p_value(std::span<const double> values, const PermutationOptions& options);

}  // namespace bench
