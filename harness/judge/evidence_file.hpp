// SPDX-License-Identifier: Apache-2.0
// A gate's file, DIR/gate.jsonl (schema bench.gate/1): the records of stage 1 as in any result
// file, then what follows, one record a line. docs/gate.md gives every field. Reading it back and
// deciding again gives the same verdicts.
#pragma once

#include "base/result.hpp"
#include "harness/judge/conclusion.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kGateSchema = "bench.gate/1";

// Who was measured.
struct GateSide {
  std::string program;
  std::string tool_version, commit;
  std::map<std::string, std::string> environment;  // set for this side alone
  std::map<std::string, std::string> libraries;    // name -> version; empty until one was asked
  friend bool operator==(const GateSide&, const GateSide&) = default;
};

struct GateFacts {
  std::string run_id;
  std::string config_name;
  std::vector<std::string> config_files;
  std::vector<std::string> plugins;  // that both sides loaded
  std::string machine_class;
  GateSide candidate;
  std::optional<GateSide> base;
  std::optional<std::string> store;  // its folder
};

// What a gate's time was spent on.
struct GateSpent {
  Nanoseconds stage_one{0};
  Nanoseconds measuring{0};  // duets and windows, with all that they need
  Nanoseconds samples{0};    // of it: timed samples and warm-up of the workers
  Nanoseconds kits{0};
  friend bool operator==(const GateSpent&, const GateSpent&) = default;
};

struct GateFile {
  GateFacts facts;
  GateEvidence evidence;
  std::vector<Judgement> judgements;  // as they were decided
  // For the caller of this gate; not in the file.
  Conclusion conclusion;  // of the judgements
  std::optional<GateSpent> spent;
  std::string program = "bench";  // what a command line to paste begins with
};

// One line without newline.
std::string gate_line(const GateFacts& facts, const GateEvidence& evidence);  // all but the cases
std::string stored_line(const std::string& run_id, const std::string& id, const StoredCase& stored);
std::string base_side_line(const std::string& run_id, const std::string& id,
                           const PreparedSide& side);
std::string failure_line(const std::string& run_id, const std::string& id,
                         const SideFailure& failure);
std::string duet_line(const Duet& duet);
std::string window_line(const Window& window);
std::string verdict_line(const std::string& run_id, const Judgement& judgement);
// The last record of a gate that ended by itself or was stopped; a killed one has none.
std::string gate_end_line(const std::string& run_id, const std::optional<StopCause>& stopped);

// Error: no gate's file, another schema, or a damaged line that a verdict could depend on, with
// its place; a torn last line is left out.
Result<GateFile> read_gate_file(std::string_view text, const std::string& name);

}  // namespace bench
