// SPDX-License-Identifier: Apache-2.0
// Turns evidence into verdicts, or into requests for further measurements. Pure functions: the gate
// measures what decide() requests and calls it again. decide() gives the same verdicts when it
// reads a gate's file years later. docs/gate.md explains the rules and their cost.
#pragma once

#include "harness/judge/evidence.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Verdict {
  regression,
  error,  // crashed, timed out, wrong result or removed
  // Slower, but within run-to-run variation plus machine drift, or GPU cycles did not grow as much.
  suspect,
  inconclusive,  // undecided after all measurements, or before they were complete
  incomparable,
  no_baseline,
  improved,
  pass,
};
// In the order of the enumerators, which is the reading order of reports.
inline constexpr std::array<std::string_view, 8> kVerdictNames = {
    "REGRESSION",   "ERROR",       "SUSPECT",  "INCONCLUSIVE",
    "INCOMPARABLE", "NO BASELINE", "IMPROVED", "PASS"};
std::string_view to_string(Verdict verdict);

// A measurement of a case that its decision still needs.
struct MeasurementRequest {
  // base: checks whether the base computes a case that the candidate does not compute.
  enum class Kind { duets, confirmation, windows, base };
  std::size_t index = 0;  // index into GateEvidence::cases
  Kind kind = Kind::duets;
  int count = 0;       // number of duets, or of processes in the next window
  double urgency = 0;  // largest first: how clearly the case is slower, in units of its noise
};

// Progress of the measurement that a case waits for.
struct Pending {
  MeasurementRequest::Kind kind = MeasurementRequest::Kind::duets;
  int done = 0;
  int planned = 0;  // duets up to this interim analysis, confirming duets, or windows
  friend bool operator==(const Pending&, const Pending&) = default;
};

// What a case is compared with.
enum class Reference { base, store };

struct CaseAssessment {
  std::string id;
  std::string source;
  Verdict verdict = Verdict::pass;
  std::string reason;  // a sentence without a full stop; empty for most PASS cases
  // How far the case went. Stage 2 is a comparison of its own; the screen only saves time.
  enum class Course { not_measured, screened_out, measured_again };
  Course course = Course::not_measured;
  // Whether the case is undecided because its evidence ended early: the budget, Ctrl-C, or a base
  // that died. `pending` names the measurement under way. It is nullopt if the base died or stage 1
  // did not reach the case.
  bool cut_short = false;
  std::optional<Pending> pending;
  // `effect`, its bounds and both times come from the same samples: duets (medians), windows, or
  // the screen. Windows and the screen use lower quartiles, by which runs are compared. Effects are
  // fractions of the reference's time: +0.05 means 5 % slower.
  std::optional<Reference> against;
  std::optional<double> effect, low, high;
  std::optional<double> p, adjusted_p;  // one-sided, in the direction of the effect
  std::optional<double> detectable;     // minimum detectable effect, a fraction; only if undecided
  int duets = 0, confirmations = 0;
  std::optional<double> confirmed_effect, confirmed_p;
  std::optional<Nanoseconds> base, candidate;  // per iteration; `base` is the reference's time
  // Exact properties: implementation, memory, primitives, layouts, output digest
  std::vector<Change> changes;
};

struct Decision {
  std::vector<CaseAssessment> judgements;  // in the order of the evidence, removed cases last
  // Pending measurements: cases whose duets show a slowdown first, then by urgency. Empty if all
  // cases are decided. A caller that measures the first few and calls decide() again settles the
  // worst cases first, so they are decided when the time runs out.
  std::vector<MeasurementRequest> wanted;
};

// Returns the verdicts that hold if no further measurement comes. A case that lacks a requested
// measurement is `cut_short`, unless the existing measurements decide it.
Decision decide(const GateEvidence& evidence);

// Returns "7 of 10 duets".
std::string format_pending(const Pending& pending);

std::size_t count(const std::vector<CaseAssessment>& judgements, Verdict verdict);

// Whether a report names the case on its first page and the gate makes a kit for it.
bool needs_kit(Verdict verdict);

}  // namespace bench
