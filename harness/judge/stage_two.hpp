// SPDX-License-Identifier: Apache-2.0
// Stage 2 of a gate: the statistics of duets, and the verdict from windows of the candidate.
#pragma once

#include "harness/judge/decide.hpp"
#include "harness/judge/evidence.hpp"

#include <optional>
#include <vector>

namespace bench {

// Statistics of a case's duets. Effects and bounds are logarithms here, but fractions in
// CaseAssessment.
struct PairedResult {
  int duets = 0;
  int disturbed = 0;  // number of these duets that are disturbed
  double effect = 0;  // Hodges-Lehmann estimate of log(candidate / base)
  double mean = 0;    // mean of the log-ratios
  // The same estimate from the undisturbed duets alone. nullopt if none or nearly all duets are
  // disturbed.
  std::optional<double> undisturbed_effect;
  std::optional<double> low, high;  // one-sided bounds, each with GatePolicy::bound_error
  // Upper bound with GatePolicy::pass_error, which decides PASS
  std::optional<double> pass_bound;
  double p_slower = 1, p_faster = 1;  // one-sided
  std::optional<double> detectable;   // minimum detectable effect of this number of duets
  std::optional<double> deviation;    // standard deviation of the log-ratios
  // Per iteration. `base` is the median of the duets' medians. `candidate` is the base's time with
  // the effect: its own median holds under other conditions of the machine.
  Nanoseconds base{0}, candidate{0};
};

// Returns the statistics of the duets of one stage; nullopt if there are none.
std::optional<PairedResult> compute_paired_result(const std::vector<Duet>& duets, Duet::Stage stage,
                                                  const GatePolicy& policy);

// The effect in device cycles, and its p-value.
struct PairedCycles {
  double effect = 0;  // Hodges-Lehmann estimate of log(candidate / base)
  double p_slower = 1;
  double base_hz = 0, candidate_hz = 0;  // median clocks
};
// Returns nullopt if the stage has no duets or one of them lacks clocks.
std::optional<PairedCycles> compute_paired_cycles(const std::vector<Duet>& duets,
                                                  Duet::Stage stage);

// Returns the number of duets that would detect an effect of `log_effect`. Returns nullopt if it is
// unknown or too large to be useful.
std::optional<int> estimate_duets(const PairedResult& result, double log_effect,
                                  const GatePolicy& policy);

// Judges a case of a gate without a base: compares the candidate's windows with the store. Detects
// only effects beyond run-to-run variation. Requires that the case is open and has a comparable
// stored run and all its windows. Private to this folder.
void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence,
                   CaseAssessment& judgement);

}  // namespace bench
