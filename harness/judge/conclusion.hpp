// SPDX-License-Identifier: Apache-2.0
// The conclusion of a gate: its exit status and the first sentence of every report. A gate that
// judged nothing, or whose evidence ended early, must not look like a gate that found nothing.
#pragma once

#include "harness/judge/decide.hpp"
#include "harness/result/record.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct Coverage {
  std::size_t judged = 0;     // REGRESSION, IMPROVED or PASS: the case has a verdict on its time
  std::size_t cut_short = 0;  // undecided because the evidence ended early
  std::size_t in_scope = 0;   // all cases
};
Coverage count_coverage(const std::vector<CaseAssessment>& judgements);

// Returns "1 REGRESSION, 53 PASS" in reading order; leaves out verdicts without cases.
std::string format_counts(const std::vector<CaseAssessment>& judgements);

// Returns "53 of 54 cases judged: 1 REGRESSION, 53 PASS".
std::string format_coverage(const std::vector<CaseAssessment>& judgements);

// What the caller of the gate accepts or demands.
struct ExitRules {
  enum class Undecided { tolerated, strict };
  enum class Baseline { optional, required };
  enum class Incomparable { refused, allowed };
  Undecided undecided = Undecided::tolerated;
  Baseline baseline = Baseline::optional;
  Incomparable incomparable = Incomparable::refused;
};

struct Conclusion {
  ExitStatus status = ExitStatus::success;
  std::string sentence;  // what the gate found; one line, without a full stop
  std::string advice;    // what to do about a status that is neither success nor regression
};

// `judgements` are the result of decide() for `evidence`. docs/gate.md lists the exit statuses.
Conclusion conclude(const GateEvidence& evidence, const std::vector<CaseAssessment>& judgements,
                    const ExitRules& rules);

}  // namespace bench
