// SPDX-License-Identifier: Apache-2.0
// The kit of a failing case: both sides' profiles as one trace and one table, a sentence about what
// changed, and how to reproduce the measurement. Pure functions, except that write_kit() writes
// files.
#pragma once

#include "base/env.hpp"
#include "base/file.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/run/worker_link.hpp"
#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct KitSide {
  std::string label;  // "candidate", "base", "stored, 1a2b3c4d, 2026-11-20T08:00:00Z"
  std::vector<Activity> activities;          // of some iterations, or of one
  std::map<std::string, std::string> facts;  // from the profile pass: "isa", "threads"
  std::optional<std::string> end;            // how the pass failed: "SIGSEGV ..."
};

// Builds a side from the activities of a profile. Keeps those within iterations (all if there are
// none). Times start at 0 in process `pid`, to which the trace gives the label as name.
KitSide kit_side(std::string label, std::int64_t pid, const std::vector<Activity>& profile);
KitSide kit_side(std::string label, std::int64_t pid, const StoredProfile& stored,
                 const std::string& case_id);

// One activity of an iteration, with both sides side by side.
struct KitRow {
  enum class Change { vanished, appeared, slower, faster, same };
  Change change = Change::same;
  std::string scope, name;  // layer and primitive; `name` has a number if it occurs several times
  std::optional<Nanoseconds> base, candidate;  // medians over the iterations
  std::string base_implementation, candidate_implementation;
};
// Returns the rows with the largest time difference first. Differences up to `tolerance` (a
// fraction) count as equal.
std::vector<KitRow> compare_sides(const KitSide& base, const KitSide& candidate, double tolerance);

struct Kit {
  const GateFile* gate;
  const CaseAssessment* judgement;
  std::optional<KitSide> base;  // nullopt: no profile of the base is known
  std::optional<KitSide> candidate;
  std::vector<std::string> notes;  // why a side is missing
};

// Compares the activities' total time with the judged effect. (A few profiled iterations are not a
// measurement.) Empty without both sides or without an effect.
std::string kit_total(const Kit& kit, const std::vector<KitRow>& rows);

// Describes the changed implementation, layout, ISA, library or clock. Never empty.
std::string kit_sentence(const Kit& kit, const std::vector<KitRow>& rows);
std::string kit_markdown(const Kit& kit, const std::vector<KitRow>& rows);

// Creates FOLDER with trace.json and timeline.html (two processes), README.md and samples.jsonl.
// samples.jsonl has the case's lines (stage 1 and duets) of `gate_text`, the gate's file.
Status write_kit(const Kit& kit, const std::string& folder, std::string_view gate_text,
                 Existing existing);

// Profiles one case once more on one side, for the kit.

struct KitRequest {
  const Case* spec = nullptr;
  ops::InputLayouts input_layouts{};  // input layouts of a layer in its network
  std::uint64_t seed = 1;
  Outcome outcome = Outcome::ok;  // the candidate's; a failed case is profiled from its first run
  std::string label;
  std::int64_t pid = 1;  // process id of the side in the trace
  // Time per iteration, if known: short iterations allow more of them.
  std::optional<Nanoseconds> iteration{};
};

// Returns what the side ran until it ended, even if it failed. Returns an error if no worker starts
// or no temporary folder can be created.
Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env);

}  // namespace bench
