// SPDX-License-Identifier: Apache-2.0
#include "harness/stats/fast_quarter.hpp"

#include "harness/stats/median.hpp"

namespace bench {
namespace {

// Calibrated on 442 pairs of consecutive runs of one program, in two hours with other guests on the
// machine (docs/performance.md). With these constants, the false positive rate is 0.4 % for pairs
// with one thread and 2 % for pairs with two threads.
constexpr double kSpreadFactor = 1.25;
constexpr double kRunAllowance = 0.01;

}  // namespace

std::optional<FastQuarter> fast_quarter(std::span<const double> values) {
  if (values.size() < kMinFastProcesses) return std::nullopt;
  return FastQuarter{*quantile(values, 0.25), *quantile(values, 0.5) - *quantile(values, 0)};
}

FastShift fast_shift(const FastQuarter& base, const FastQuarter& candidate) {
  const double effect = candidate.location - base.location;
  return {effect, effect - kSpreadFactor * candidate.median_minus_min - kRunAllowance,
          effect + kSpreadFactor * base.median_minus_min + kRunAllowance};
}

double minimum_detectable_effect(const FastQuarter& side) {
  return kSpreadFactor * side.median_minus_min + kRunAllowance;
}

}  // namespace bench
