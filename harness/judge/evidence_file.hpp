// SPDX-License-Identifier: Apache-2.0
// The file of a gate, DIR/gate.jsonl (schema bench.gate/1), with one record per line. It starts
// with the records of stage 1, as in any result file. docs/gate.md lists every field. decide()
// gives the same verdicts for the evidence that read_gate_file() returns.
#pragma once

#include "base/result.hpp"
#include "base/text.hpp"
#include "harness/judge/conclusion.hpp"
#include "harness/result/proof.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

inline constexpr std::string_view kGateSchema = "bench.gate/1";

// A file that a worker of a side has loaded: the program itself or a library under test.
struct LoadedFile {
  std::string name;  // kProgramFile, kGpuPluginFile, "onednn", "cudnn" or the name of a plugin
  std::string path;  // absolute, without symbolic links
  // What a library reports: runtime, instruction set, build. Of a program: its launcher, if it has
  // one. May be empty.
  std::string detail;
  // content_hash() of the file. Set only if the other side loaded another file of the same size.
  std::optional<std::string> digest = std::nullopt;
  // Whether both have the same content.
  bool is_same_build(const LoadedFile& other) const {
    return path == other.path || (digest && digest == other.digest);
  }
  friend bool operator==(const LoadedFile&, const LoadedFile&) = default;
};
inline constexpr std::string_view kProgramFile = "bench";
inline constexpr std::string_view kGpuPluginFile = "cuda_plugin";

// One of the measured programs.
struct GateSide {
  std::string program;
  std::string tool_version, commit;
  std::map<std::string, std::string> environment;  // variables that are set for this side only
  // Name -> version; empty until a worker of this side has reported them
  std::map<std::string, std::string> libraries;
  // What a worker of this side loaded until it was ready, the program first. Empty in older files
  // and if no worker answered.
  std::vector<LoadedFile> loaded = {};
  std::vector<std::string> other_files = {};  // paths of all other loaded libraries, sorted
  // The compiler of the program, and its options; empty if unknown, as in older files.
  std::string build = {};
  friend bool operator==(const GateSide&, const GateSide&) = default;
};

// What was measured, where, and by which programs.
struct GateFacts {
  std::string run_id;
  std::string config_name;
  std::vector<std::string> config_files;
  std::vector<std::string> plugins;  // plugins that both sides loaded
  std::string machine_class;
  GateSide candidate;
  std::optional<GateSide> base;
  std::optional<std::string> store;  // the store's folder; nullopt if no store was used
  // Variables of the gate's own environment that its workers inherited and that affect what they
  // run: "ONEDNN_MAX_CPU_ISA". Empty in older files.
  std::map<std::string, std::string> inherited = {};
  // The other measurements of `bench` that ran on this machine at the same time.
  std::vector<std::string> beside = {};
  std::string time = {};  // when the gate began, UTC; empty in older files
  // The last self-test on this machine class; nullopt if none is stored, and in older files.
  std::optional<ProofOfLife> proof = std::nullopt;
};

// How long the phases of a gate took.
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
  // The file does not contain the following members. Reports use them.
  Conclusion conclusion;  // the result of conclude() for the judgements
  std::optional<GateSpent> spent;
  std::string program = "bench";  // first word of command lines to paste
  std::string program_path = "";  // its absolute path; empty if unknown
};

// Each function returns one record as a line without a newline.

// Returns the record `gate`: everything except the cases.
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
// Returns the last record of a gate that finished or was stopped. The file of a killed gate has
// none.
std::string gate_end_line(const std::string& run_id, const std::optional<StopCause>& stopped);

// Adds digests to the records of a gate's file. So read_gate_file() notices whether lines were
// changed, removed or added later, also in the file of a killed gate. This protects from accidents
// and careless edits, not from forgery.
class EvidenceSeal {
 public:
  // Takes a line that gets no digest: one of stage 1.
  void add(std::string_view line);
  // Returns the record with its last field, `digest`: the content_hash() of the file up to this
  // field.
  std::string seal(std::string_view record);

 private:
  ContentHash hash_;  // the hash of the file so far
};

// Whether the text looks like a gate's file: one of its lines is the record `gate`.
bool is_gate_file(std::string_view text);

// Reads a gate's file from its text. Returns an error with the location if the file is not a gate's
// file, has another schema, contains a malformed record, or does not have the digests that its
// records state. Files of older versions have no digests. Ignores an incomplete last line. `name`
// is the name of the file.
Result<GateFile> read_gate_file(std::string_view text, const std::string& name);

}  // namespace bench
