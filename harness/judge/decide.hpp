// SPDX-License-Identifier: Apache-2.0
// From evidence to verdicts, or to the measurements that are still wanted. Pure functions: `run`
// measures what is wanted and asks again; a gate's file can be decided anew years later.
// docs/gate.md explains the rules and what they cost.
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
  error,    // crashed, timed out, a wrong result, vanished
  suspect,  // slower, but within what stored runs differ by and the machine changed by, or on a
            // device without as many more cycles
  inconclusive,  // undecided by all its measurements, or before they were complete
  incomparable,
  no_baseline,
  improved,
  pass,
};
// In the order of the enumerators, which is the reading order of reports: "REGRESSION", ...
inline constexpr std::array<std::string_view, 8> kVerdictNames = {
    "REGRESSION",   "ERROR",       "SUSPECT",  "INCONCLUSIVE",
    "INCOMPARABLE", "NO BASELINE", "IMPROVED", "PASS"};
std::string_view name_of(Verdict verdict);

// A measurement of a case that its decision still asks for.
struct Wanted {
  // base: whether the base computes a case that the candidate does not.
  enum class Kind { duets, confirmation, windows, base };
  std::size_t index = 0;  // into GateEvidence::cases
  Kind kind = Kind::duets;
  int count = 0;       // duets; processes of the next window
  double urgency = 0;  // the largest first: how clearly it is slower, in units of its own noise
};

// How far the measurement came that a case still waits for.
struct Pending {
  Wanted::Kind kind = Wanted::Kind::duets;
  int done = 0;
  int planned = 0;  // duets of this look, confirming duets, windows
  friend bool operator==(const Pending&, const Pending&) = default;
};

// What a case is compared with.
enum class Reference { base, store };

struct Judgement {
  std::string id;
  std::string source;
  Verdict verdict = Verdict::pass;
  std::string reason;  // a sentence without a full stop; empty for most that pass
  // What happened to the case: stage 2 is a comparison of its own, the screen only saves time.
  enum class Course { not_measured, screened_out, measured_again };
  Course course = Course::not_measured;
  // Whether the case is undecided because its evidence ended early: the budget, Ctrl-C, or a base
  // that died. `pending` says which measurement was under way; it is absent if the base died or
  // stage 1 did not reach the case.
  bool cut_short = false;
  std::optional<Pending> pending;
  // `effect`, its bounds and both times come from the same samples: duets (medians), windows or the
  // screen (lower quartiles, which are what runs are compared by). Shares of the reference's time,
  // +0.05 for 5 % slower.
  std::optional<Reference> against;
  std::optional<double> effect, low, high;
  std::optional<double> p, adjusted_p;  // one-sided, in the direction of the effect
  std::optional<double> detectable;     // minimal detectable effect, a share; if undecided
  int duets = 0, confirmations = 0;
  std::optional<double> confirmed_effect, confirmed_p;
  std::optional<Nanoseconds> base, candidate;  // of an iteration; `base` is of the reference
  std::vector<Change> changes;  // exact: implementation, memory, primitives, layouts, output digest
};

struct Decision {
  std::vector<Judgement> judgements;  // in the order of the evidence, removed cases last
  // What its duets have shown to be slower first, then the most urgent; empty: everything is
  // decided. Whoever measures the first few and asks again has the worst ones decided whenever the
  // time is over.
  std::vector<Wanted> wanted;
};

// The verdicts hold if no further measurement comes: what is wanted and not there leaves its case
// `cut_short`, unless what was measured decides it already.
Decision decide(const GateEvidence& evidence);

// "7 of 10 duets".
std::string pending_text(const Pending& pending);

std::size_t count(const std::vector<Judgement>& judgements, Verdict verdict);

// Whether a report names the case on its first page, and a kit is made for it.
bool needs_kit(Verdict verdict);

}  // namespace bench
