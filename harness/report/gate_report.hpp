// SPDX-License-Identifier: Apache-2.0
// What a gate tells people and machines: pure functions of its file. Its conclusion comes first in
// each: a gate that could judge nothing must not look like one that found nothing.
#pragma once

#include "harness/judge/evidence_file.hpp"
#include "harness/report/console.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// What holds for all cases, in sentences: what to do about the exit status, the sides, a missing
// base, a machine that moved, changed libraries.
std::vector<std::string> context_lines(const GateFile& gate);

// By verdict in reading order, then the largest effect first.
std::vector<const Judgement*> reading_order(const std::vector<Judgement>& judgements);

// "+5.1% [+4.8%, +5.4%]"; the interval's bounds are one-sided at GatePolicy::bound_error each.
// Empty where no effect is known.
std::string effect_text(const Judgement& judgement);

// "20+20": duets, and fresh ones that confirmed them; "screen" if the store sufficed, empty if
// nothing was measured again.
std::string duets_text(const Judgement& judgement);

// "base" or "store": what the case's effect and first time are of; empty without either.
std::string_view reference_text(const Judgement& judgement);

// Whether a report counts the case as an error: it failed, its evidence ended early, or it is one
// of a gate that judged nothing and does not succeed.
bool is_error(const GateFile& gate, const Judgement& judgement);

// One line a side: "base: bench 0.1.0 (commit 1a2b3c4d) with ONEDNN_MAX_CPU_ISA=SSE41".
std::string side_text(std::string_view role, const GateSide& side);

// The command that measures one case's two sides again.
std::string reproduction(const GateFile& gate, const Judgement& judgement);

// Folders of kits by case id, as the reports name them.
using KitPaths = std::map<std::string, std::string>;

// All that a report says of one case, one fact a line, the most important first.
std::vector<std::string> case_lines(const GateFile& gate, const Judgement& judgement,
                                    const KitPaths& kits);

// The place of a case in its configuration: "configs/resnet.yaml:14" -> file and line. No file
// where it is unknown, no line where the source names none.
struct SourcePlace {
  std::string file;
  std::optional<int> line;
};
SourcePlace place_of(std::string_view source);

std::string gate_console(const GateFile& gate, const KitPaths& kits, const ConsoleOptions& options);

// Files that every gate writes into its folder.
struct GateFormat {
  std::string_view name;
  std::string_view file;  // "gate.md"
  std::string (*write)(const GateFile& gate, const KitPaths& kits);
};
std::span<const GateFormat> gate_formats();

std::string gate_json(const GateFile& gate, const KitPaths& kits);
std::string gate_markdown(const GateFile& gate, const KitPaths& kits);
std::string gate_junit(const GateFile& gate, const KitPaths& kits);
std::string gate_open_metrics(const GateFile& gate, const KitPaths& kits);
// Google Benchmark's schema, for its compare.py: one file a side.
std::string gate_google_benchmark_base(const GateFile& gate, const KitPaths& kits);
std::string gate_google_benchmark_candidate(const GateFile& gate, const KitPaths& kits);

// GitHub's workflow commands, one a line, for the log of a job: `::error file=...,line=...::...`.
std::string gate_annotations(const GateFile& gate, const KitPaths& kits);

}  // namespace bench
