// SPDX-License-Identifier: Apache-2.0
// Finds the change points of a series: the positions at which the distribution of its values
// changes. The method is E-divisive with exponent 1 (Matteson & James, A Nonparametric Approach for
// Multiple Change Point Analysis of Multivariate Data, J. Am. Stat. Assoc. 109, 2014). The largest
// energy distance between the values before and after a position locates a change. A permutation
// test decides whether it is significant; if so, both parts are searched in the same way. The
// method assumes no distribution and permits equal values.
#pragma once

#include "base/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Permutation tests: they compute how unusual the order of a series is among all orders of its
// values. They are valid for any distribution and with equal values. They assume that the values
// are exchangeable if nothing changed; slow machine drift violates this assumption.
struct PermutationOptions {
  int permutations = 4999;  // the smallest p-value is 1 / (permutations + 1)
  // The test stops after this many permutations that are at least as extreme as the series. The
  // p-value stays valid (Besag & Clifford, Biometrika 78, 1991), and a series without a change
  // costs few permutations.
  int max_extreme = 25;
  std::uint64_t seed = 1;  // fixed, so that the same series always gets the same p-value
};

// Returns the p-value: the fraction of random orders of `values` for which `statistic(values)` is
// at least that of the original order.
template <class Statistic>
double permutation_p_value(std::vector<double> values, const PermutationOptions& options,
                           Statistic statistic) {
  // Rounding makes equal statistics differ if they sum their terms in another order.
  constexpr double kRounding = 1e-9;
  const double observed = statistic(values);
  const double limit = observed - kRounding * std::abs(observed);
  SplitMix random(options.seed);
  int extreme = 0;
  for (int number = 1; number <= options.permutations; ++number) {
    random.shuffle(values);
    if (statistic(values) >= limit && ++extreme == options.max_extreme)
      return static_cast<double>(extreme) / number;
  }
  return static_cast<double>(extreme + 1) / (options.permutations + 1);
}

// Maximum number of values, because each permutation of n values takes n^2 steps. Callers pass the
// last values of a longer series.
inline constexpr std::size_t kMaxSeries = 128;

// Minimum number of runs before and after a change. Two disturbed runs would look like a change.
inline constexpr std::size_t kMinLevelRuns = 3;

struct ChangePoint {
  std::size_t index = 0;  // first value of the new level; at least kMinLevelRuns from both ends
  double effect = 0;      // median after minus median before, each up to the adjacent change point
  double p_value = 1;
  friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
};

// Returns the position with the largest energy distance, and the p-value of the hypothesis that the
// series has no change. Returns nullopt for fewer than 2 kMinLevelRuns values. Accepts at most
// kMaxSeries values.
std::optional<ChangePoint> strongest_change(std::span<const double> values,
                                            const PermutationOptions& options);

struct SegmentationOptions {
  PermutationOptions test = {};
  double level = 0.01;    // significance level: maximum p-value of a change
  double min_effect = 0;  // change points with a smaller absolute effect are removed again
};
// Returns all change points in their order. `strongest` must be strongest_change() of all values
// with the same test options. Accepts at most kMaxSeries values.
std::vector<ChangePoint> change_points(std::span<const double> values,
                                       const std::optional<ChangePoint>& strongest,
                                       const SegmentationOptions& options);

// Returns whether a straight line fits the values better, by least squares, than two levels that
// change at `index`. If so, the change is a gradual drift that cannot be attributed to one run.
// Requires 0 < index < values.size().
bool is_gradual(std::span<const double> values, std::size_t index);

// Returns the p-value of the hypothesis that the values have no upward trend. Uses Mann's test with
// Kendall's S (Mann, Econometrica 13, 1945) and its permutation distribution, which is valid for
// equal values. Accepts at most kMaxSeries values.
double upward_trend_p_value(std::span<const double> values, const PermutationOptions& options);

}  // namespace bench
