// SPDX-License-Identifier: Apache-2.0
// From evidence to verdicts, or to the measurements that are still wanted. Pure functions: `run`
// measures what is wanted and asks again; a gate's file can be decided anew years later.
// docs/gate.md explains the rules and what they cost.
#pragma once

#include "harness/gate/evidence.hpp"
#include "harness/report/exit_status.hpp"

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
  suspect,  // slower, but not by the code's doing as far as can be told: without a base by less
            // than the store's runs differ, on a device without as many more cycles
  inconclusive,  // measured again, and still undecided
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

struct Judgement {
  std::string id;
  std::string source;
  Verdict verdict = Verdict::pass;
  std::string reason;  // a sentence without a full stop; empty for most that pass
  // What happened to the case: stage 2 is a comparison of its own, the screen only saves time.
  enum class Course { not_measured, screened_out, measured_again };
  Course course = Course::not_measured;
  // Shares of the base's time, +0.05 for 5 % slower: from duets, from windows, or only from the
  // screen.
  std::optional<double> effect, low, high;
  std::optional<double> p, adjusted_p;  // one-sided, in the direction of the effect
  std::optional<double> detectable;     // minimal detectable effect, a share
  int duets = 0, confirmations = 0;
  std::optional<double> confirmed_effect, confirmed_p;
  std::optional<Nanoseconds> base, candidate;  // medians of an iteration
  std::vector<Change> changes;  // exact: implementation, memory, primitives, layouts, output digest
};

struct Wanted {
  enum class Kind { duets, confirmation, windows };
  std::size_t index = 0;  // into GateEvidence::cases
  Kind kind = Kind::duets;
  int count = 0;       // duets; processes of the next window
  double urgency = 0;  // the largest first: how clearly it is slower, in units of its own noise
};

struct Decision {
  std::vector<Judgement> judgements;  // in the order of the evidence, removed cases last
  // What its duets have shown to be slower first, then the most urgent; empty: everything is
  // decided. Whoever measures the first few and asks again has the worst ones decided whenever the
  // time is over.
  std::vector<Wanted> wanted;
};

Decision decide(const GateEvidence& evidence);

std::size_t count(const std::vector<Judgement>& judgements, Verdict verdict);

// Whether a report names the case on its first page, and a kit is made for it.
bool needs_kit(Verdict verdict);

struct ExitRules {
  enum class Undecided { tolerated, strict };
  enum class Baseline { optional, required };
  Undecided undecided = Undecided::tolerated;
  Baseline baseline = Baseline::optional;
};
ExitStatus exit_status_of(const std::vector<Judgement>& judgements, const ExitRules& rules);

}  // namespace bench
