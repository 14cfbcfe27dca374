// SPDX-License-Identifier: Apache-2.0
// The reports of a gate: pure functions of its file. Each starts with the conclusion, since a gate
// that could not assess any case must not look like one that found no regression.
#pragma once

#include "harness/judge/evidence_file.hpp"
#include "harness/report/cause_text.hpp"
#include "harness/report/console.hpp"
#include "harness/report/document.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Returns what to do about the exit status, the sides, a missing base, and what the last self-test
// says about the gate.
std::vector<std::string> side_lines(const GateFile& gate);
// Returns sentences that concern all cases: how steady the machine was, changed libraries, how long
// the gate took.
std::vector<Note> gate_notes(const GateFile& gate);
// Returns both.
std::vector<std::string> context_lines(const GateFile& gate);

// Returns in which fraction of the duets' rounds a sample lost its processor, as a sentence.
// Returns nullopt if no duet has canaries.
std::optional<std::string> format_interrupted_rounds(const GateEvidence& evidence);

// Sorts by verdict in reading order, then by the size of the effect, largest first. The assessments
// must outlive the result.
std::vector<const CaseAssessment*> reading_order(const std::vector<CaseAssessment>& judgements);

// Returns "+5.1% [+4.8%, +5.4%]" for the column "slower by" of a table. The interval's bounds are
// one-sided, each at GatePolicy::bound_error. Empty if no effect is known.
std::string format_signed_effect(const CaseAssessment& judgement);

// Returns the same effect for a sentence: "5.1 % slower (4.8 to 5.4)". Empty if no effect is known.
std::string describe_effect(const CaseAssessment& judgement);

// Returns "20+20": duets plus confirming duets. "none" means that stored runs sufficed. Empty if
// nothing was measured again.
std::string format_duets(const CaseAssessment& judgement);

// Returns "base" or "store": what the case's effect refers to and where its time `base` comes from.
// Empty if the case has no such reference.
std::string_view reference_name(const CaseAssessment& judgement);

// Whether a report counts the case as an error: the case failed, its evidence ended early, or the
// gate assessed no case and does not succeed.
bool is_error(const GateFile& gate, const CaseAssessment& judgement);

// Returns one line: "base: bench 0.1.0 (commit 1a2b3c4d) at /old/bench, onednn 3.2.0 from
// /old/lib/libdnnl.so.3.2 (OpenMP, SSE41, build 5e6f7a8b) with ONEDNN_MAX_CPU_ISA=SSE41". Omits
// what is unknown.
std::string format_side(std::string_view role, const GateSide& side);

// Returns the command that measures both sides of one case again, or the candidate of a gate
// without a base, with the store. Begins with the variables that the gate's workers inherited.
std::string reproduction(const GateFile& gate, const CaseAssessment& judgement);

// Returns the command that separates the causes that remain for a case; nullopt if none is known.
std::optional<NextCommand> find_cause_command(const GateFile& gate, const CaseAssessment& judgement,
                                              const CauseFinding& cause);

// Paths of kits by case id, as the reports show them. A kit is a folder with both sides' profiles
// of a failing case.
using KitPaths = std::map<std::string, std::string>;

// Returns everything that a report states about one case: one fact per line, the most important
// first.
std::vector<std::string> case_lines(const GateFile& gate, const CaseAssessment& judgement,
                                    const KitPaths& kits);

// Splits a case's location in its configuration, "configs/resnet.yaml:14", into file and line. The
// file is empty if unknown, the line is nullopt if `source` has none.
struct ConfigLocation {
  std::string file;
  std::optional<int> line;
};
ConfigLocation parse_config_location(std::string_view source);

// The tone of a verdict on a page and in plots.
Tone page_tone(Verdict verdict);

// Maximum width of one fact in Markdown, in columns, so that a single fact cannot displace all
// others.
inline constexpr std::size_t kMaxFactWidth = 1000;

// Returns the table of these cases in one of the formats (gate_table.cpp).
Table gate_table(const GateFile& gate, const std::vector<const CaseAssessment*>& cases,
                 const KitPaths& kits, InFormat format);

std::string gate_console(const GateFile& gate, const KitPaths& kits, const ConsoleOptions& options);

// Returns GitHub's workflow commands for the log of a job, one per line: `::error
// file=...,line=...::...`.
std::string gate_annotations(const GateFile& gate, const KitPaths& kits);

}  // namespace bench
