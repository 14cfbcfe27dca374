// SPDX-License-Identifier: Apache-2.0
// What a case's duets say: effect, bounds, p-values. Logarithms inside, shares outside. Private to
// this folder.
#pragma once

#include "harness/judge/evidence.hpp"

#include <optional>
#include <vector>

namespace bench {

struct PairedResult {
  int duets = 0;
  double effect = 0;                // Hodges-Lehmann estimate of log(candidate / base)
  double mean = 0;                  // of the log-ratios
  std::optional<double> low, high;  // one-sided bounds, each with GatePolicy::bound_error
  std::optional<double> excluded;   // larger effects are, with GatePolicy::pass_error
  double p_slower = 1, p_faster = 1;
  std::optional<double> detectable;   // log
  std::optional<double> deviation;    // standard deviation of the log-ratios
  Nanoseconds base{0}, candidate{0};  // medians of an iteration over the duets' medians
};

// Of the stage's duets; absent where there are none.
std::optional<PairedResult> paired_result(const std::vector<Duet>& duets, Duet::Stage stage,
                                          const GatePolicy& policy);

// The effect in cycles of a device, by its Hodges-Lehmann estimate, and its p-value; absent where a
// duet of the stage lacks clocks.
struct PairedCycles {
  double effect = 0;  // of log(candidate / base)
  double p_slower = 1;
  double base_hz = 0, candidate_hz = 0;  // medians
};
std::optional<PairedCycles> paired_cycles(const std::vector<Duet>& duets, Duet::Stage stage);

// From log(t / 1 ns), as levels of the store and effects are kept.
Nanoseconds time_from_log(double log);

// How many duets would show an effect of `log_effect`; absent where that cannot be said.
std::optional<int> duets_needed(const PairedResult& result, double log_effect,
                                const GatePolicy& policy);

}  // namespace bench
