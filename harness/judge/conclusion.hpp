// SPDX-License-Identifier: Apache-2.0
// The conclusion of a gate: its exit status and the first sentence of every report. A gate that
// judged nothing, or whose evidence ended early, must not look like a gate without regressions.
// Commands call the conclude() of harness/judge/equal_sides.hpp, which takes a GateFile, calls this
// one and can raise the status.
#pragma once

#include "harness/judge/decide.hpp"
#include "harness/result/record.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Number of cases with and without a decision.
struct Coverage {
  std::size_t judged = 0;     // cases with REGRESSION, IMPROVED or PASS: a verdict about their time
  std::size_t cut_short = 0;  // cases that are undecided because the evidence ended early
  std::size_t in_scope = 0;   // all cases
};
Coverage count_coverage(const std::vector<CaseAssessment>& judgements);

// Returns the number of cases per verdict, in reading order: "1 REGRESSION, 53 PASS". Omits
// verdicts without cases.
std::string format_counts(const std::vector<CaseAssessment>& judgements);

// Returns "53 of 54 cases judged: 1 REGRESSION, 53 PASS".
std::string format_coverage(const std::vector<CaseAssessment>& judgements);

// Which results the caller of the gate accepts (docs/gate.md, Exit status of the whole gate).
struct ExitRules {
  enum class Undecided { tolerated, strict };
  enum class Baseline { optional, required };
  enum class Incomparable { refused, allowed };
  enum class EqualSides { tolerated, refused };  // sides that are the same program and libraries
  Undecided undecided = Undecided::tolerated;
  Baseline baseline = Baseline::optional;
  Incomparable incomparable = Incomparable::refused;
  EqualSides equal_sides = EqualSides::tolerated;
  // Stores the candidate's run of this gate; format_save_command() names the gate's file.
  std::string save_command = "bench baseline save RESULT";
};

// Returns the command that stores the run of a gate: "bench baseline save gate/gate.jsonl".
// `store`: its folder; nullopt for the default one.
std::string format_save_command(const std::string& program, const std::string& gate_file,
                                const std::optional<std::string>& store);

struct Conclusion {
  ExitStatus status = ExitStatus::success;
  std::string sentence;  // what the gate found; one line, without a full stop
  std::string advice;    // what the user can do about the status; may be empty
};

// Draws the conclusion from the evidence alone. `judgements` are those that decide() returns for
// `evidence`.
Conclusion conclude(const GateEvidence& evidence, const std::vector<CaseAssessment>& judgements,
                    const ExitRules& rules);

}  // namespace bench
