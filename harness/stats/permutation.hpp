// SPDX-License-Identifier: Apache-2.0
// Permutation tests: how unusual the order of a series is among all orders of its values. Valid for
// any distribution and with equal values. The runs of a series must be exchangeable if nothing
// changed; slow drifts of a machine violate this.
#pragma once

#include "base/random.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace bench {

struct PermutationOptions {
  int permutations = 4999;  // the smallest p-value is 1 / (permutations + 1)
  // Stop after this many permutations at least as extreme as the series. The p-value stays valid
  // (Besag & Clifford, Biometrika 78, 1991), and a series without a change costs few permutations.
  int enough = 25;
  std::uint64_t seed = 1;  // the same series always gets the same p-value
};

// Returns the fraction of random orders of `values` for which `statistic(values)` is at least that
// of the given order.
template <class Statistic>
double permutation_p_value(std::vector<double> values, const PermutationOptions& options,
                           Statistic statistic) {
  // Equal statistics differ by rounding errors if their sums have another order.
  constexpr double kRounding = 1e-9;
  const double observed = statistic(values);
  const double limit = observed - kRounding * std::abs(observed);
  SplitMix random(options.seed);
  int extreme = 0;
  for (int number = 1; number <= options.permutations; ++number) {
    random.shuffle(values);
    if (statistic(values) >= limit && ++extreme == options.enough)
      return static_cast<double>(extreme) / number;
  }
  return static_cast<double>(extreme + 1) / (options.permutations + 1);
}

}  // namespace bench
