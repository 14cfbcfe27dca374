// SPDX-License-Identifier: Apache-2.0
// Turns evidence into verdicts and into requests for further measurements. Pure functions: the gate
// measures what decide() requests and calls decide() again. The evidence in a gate's file gives the
// same verdicts later. docs/gate.md explains the rules and their cost.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/evidence.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// In the reading order of reports.
BENCH_ENUM(Verdict,                     //
           (regression, "REGRESSION"),  // slower, or needs more memory
           // failed, crashed, timed out, wrong, removed, no longer supported; malformed store
           (error, "ERROR"),
           (suspect, "SUSPECT"),  // slower within run-to-run variation, or without more GPU cycles
           (inconclusive, "INCONCLUSIVE"),  // not decided by all measurements, or ended early
           (incomparable, "INCOMPARABLE"),  // nothing to compare with, or other conditions
           (no_baseline, "NO BASELINE"),    // neither a base nor a stored run
           (improved, "IMPROVED"),          // faster
           (pass, "PASS")                   // not slower by the limit `detect` or more
);

// A measurement of a case that its decision still needs.
struct MeasurementRequest {
  // confirmation: duets that confirm a regression. base: checks whether the base computes a case
  // that the candidate does not compute.
  BENCH_MEMBER_ENUM(Kind, duets, confirmation, windows, base);
  std::size_t index = 0;  // index into GateEvidence::cases
  Kind kind = Kind::duets;
  int count = 0;       // number of duets, or of processes in the next window
  double urgency = 0;  // how clearly the case is slower, in units of its noise
};

// Progress of the measurement that a case waits for.
struct Pending {
  MeasurementRequest::Kind kind = MeasurementRequest::Kind::duets;
  int done = 0;
  int planned = 0;  // `done` at the next interim analysis, or of all windows
  friend bool operator==(const Pending&, const Pending&) = default;
};

// What a case is compared with.
BENCH_ENUM(Reference, base, store);

// The decision about one case.
struct CaseAssessment {
  std::string id;
  std::string source;  // where the case is configured, "configs/resnet.yaml:14"
  Verdict verdict = Verdict::pass;
  std::string reason;  // a sentence without a full stop; empty for most PASS cases
  // How far the case came. screened_out: the screen of stage 1 cleared it, so it passes.
  // measured_again: stage 2 compared it. not_measured: neither of these.
  BENCH_MEMBER_ENUM(Course, not_measured, screened_out, measured_again);
  Course course = Course::not_measured;
  // Whether the case is undecided because its evidence ended early: the budget, Ctrl-C, or a base
  // that died.
  bool cut_short = false;
  // The measurement that the case waits for. nullopt if the case is decided, if the base died, or
  // if stage 1 did not reach the case.
  std::optional<Pending> pending;
  // `effect`, its bounds and both times come from the same samples: duets, windows, or the screen.
  // `candidate` is `base` with the effect, so that the columns of a table agree. Effects are
  // fractions of the reference's time: +0.05 means 5 % slower.
  std::optional<Reference> against;
  std::optional<double> effect, low, high;
  std::optional<double> p, adjusted_p;  // one-sided, in the direction of the effect
  std::optional<double> detectable;     // minimum detectable effect, a fraction; only if undecided
  int duets = 0, confirmations = 0;     // number of duets, and of confirming duets
  std::optional<double> confirmed_effect, confirmed_p;  // from the confirming duets
  std::optional<Nanoseconds> base, candidate;  // per iteration; `base` is the reference's time
  // Changed exact properties: implementation, memory, primitives, layouts, output digest
  std::vector<Change> changes;
};

struct Decision {
  std::vector<CaseAssessment> judgements;  // in the order of the evidence, removed cases last
  // Pending measurements, the most urgent first; empty if all cases are decided. Cases whose duets
  // show a slowdown come before all others. If the caller measures the first few and calls decide()
  // again, the worst cases are decided before the budget ends.
  std::vector<MeasurementRequest> requests;
};

// Returns the verdicts that hold if nothing else is measured, and the requests. A case that lacks a
// requested measurement is `cut_short`, unless the existing measurements decide it.
Decision decide(const GateEvidence& evidence);

// Returns the progress of a measurement: "7 of 10 duets".
std::string format_pending(const Pending& pending);

// Returns the number of cases with this verdict.
std::size_t count(const std::vector<CaseAssessment>& judgements, Verdict verdict);

// Whether a case with this verdict gets a kit even if not every case does, and reports show the
// command that measures it again.
bool needs_kit(Verdict verdict);

}  // namespace bench
