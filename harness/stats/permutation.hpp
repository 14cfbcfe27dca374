// SPDX-License-Identifier: Apache-2.0
// Permutation tests: they compute how unusual the order of a series is among all orders of its
// values. They are valid for any distribution and with equal values. They assume that the values
// are exchangeable if nothing changed; slow machine drift violates this assumption.
#pragma once

#include "base/random.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace bench {

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

}  // namespace bench
