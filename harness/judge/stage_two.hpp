// SPDX-License-Identifier: Apache-2.0
// Stage 2 of a gate: what duets, or windows of the candidate, say about a case.
#pragma once

#include "harness/judge/decide.hpp"
#include "harness/judge/evidence.hpp"

#include <optional>
#include <vector>

namespace bench {

// Statistics of a case's duets: effect, bounds, p-values, for decide() and the self-test. Values
// are logarithms here and fractions outside.

struct PairedResult {
  int duets = 0;
  double effect = 0;                // Hodges-Lehmann estimate of log(candidate / base)
  double mean = 0;                  // mean of the log-ratios
  std::optional<double> low, high;  // one-sided bounds, each with GatePolicy::bound_error
  // Larger effects are excluded at the level GatePolicy::pass_error
  std::optional<double> excluded;
  double p_slower = 1, p_faster = 1;
  std::optional<double> detectable;   // logarithm
  std::optional<double> deviation;    // standard deviation of the log-ratios
  Nanoseconds base{0}, candidate{0};  // per iteration, over the medians of the duets
};

// Returns the statistics of one stage; nullopt if it has no duets.
std::optional<PairedResult> paired_result(const std::vector<Duet>& duets, Duet::Stage stage,
                                          const GatePolicy& policy);

// The effect in device cycles (Hodges-Lehmann estimate) and its p-value. nullopt if a duet of the
// stage lacks clocks.
struct PairedCycles {
  double effect = 0;  // of log(candidate / base)
  double p_slower = 1;
  double base_hz = 0, candidate_hz = 0;  // medians
};
std::optional<PairedCycles> paired_cycles(const std::vector<Duet>& duets, Duet::Stage stage);

// Converts log(t / 1 ns), the form of stored levels and effects.
Nanoseconds time_from_log(double log);

// Returns how many duets would detect an effect of `log_effect`; nullopt if that is unknown.
std::optional<int> duets_needed(const PairedResult& result, double log_effect,
                                const GatePolicy& policy);

// Judges a gate without a base: the candidate's windows against the store. It detects only effects
// beyond run-to-run variation. Private to this folder.

// Requires that the case is a suspect and has a comparable stored case and all its windows.
void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence,
                   CaseAssessment& judgement);

}  // namespace bench
