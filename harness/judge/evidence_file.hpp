// SPDX-License-Identifier: Apache-2.0
// The file of a gate, DIR/gate.jsonl (schema bench.gate/1). It starts with the records of stage 1,
// as in any result file; one record per line follows. docs/gate.md lists every field. Reading the
// file and deciding again gives the same verdicts.
#pragma once

#include "base/result.hpp"
#include "harness/judge/conclusion.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kGateSchema = "bench.gate/1";

// One of the measured programs.
struct GateSide {
  std::string program;
  std::string tool_version, commit;
  std::map<std::string, std::string> environment;  // set only for this side
  // Name -> version; empty until a worker of this side reported them
  std::map<std::string, std::string> libraries;
  friend bool operator==(const GateSide&, const GateSide&) = default;
};

struct GateFacts {
  std::string run_id;
  std::string config_name;
  std::vector<std::string> config_files;
  std::vector<std::string> plugins;  // plugins that both sides loaded
  std::string machine_class;
  GateSide candidate;
  std::optional<GateSide> base;
  std::optional<std::string> store;  // the store's folder
};

// What a gate's time was spent on.
struct GateSpent {
  Nanoseconds stage_one{0};
  Nanoseconds measuring{0};  // duets and windows, including their setup
  Nanoseconds samples{0};    // part of `measuring`: timed samples and warm-up of the workers
  Nanoseconds kits{0};
  friend bool operator==(const GateSpent&, const GateSpent&) = default;
};

struct GateFile {
  GateFacts facts;
  GateEvidence evidence;
  std::vector<CaseAssessment> judgements;  // as decided when the gate ran
  // The members below serve the caller of this gate; the file does not contain them.
  Conclusion conclusion;  // drawn from the judgements
  std::optional<GateSpent> spent;
  std::string program = "bench";  // first word of command lines to paste
};

// Each function returns one line without a newline.
// Everything except the cases
std::string gate_line(const GateFacts& facts, const GateEvidence& evidence);
std::string stored_line(const std::string& run_id, const std::string& id,
                        const StoredEvidence& stored);
std::string base_side_line(const std::string& run_id, const std::string& id,
                           const ExactProperties& side);
std::string failure_line(const std::string& run_id, const std::string& id,
                         const SideFailure& failure);
std::string duet_line(const Duet& duet);
std::string window_line(const Window& window);
std::string verdict_line(const std::string& run_id, const CaseAssessment& judgement);
// The last record of a gate that finished or was stopped; a killed gate has none.
std::string gate_end_line(const std::string& run_id, const std::optional<StopCause>& stopped);

// Whether the text looks like a gate's file: some line of it is the record `gate`.
bool is_gate_file(std::string_view text);

// Returns an error if the file is not a gate's file, has another schema, or contains a malformed
// line that could affect a verdict. The error gives the location. Ignores an incomplete last line.
Result<GateFile> read_gate_file(std::string_view text, const std::string& name);

}  // namespace bench
