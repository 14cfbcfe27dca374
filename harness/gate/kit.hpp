// SPDX-License-Identifier: Apache-2.0
// The kit of a failing case: both sides' profiles as one trace and one table, a sentence about what
// changed, and how to reproduce the measurement. Pure functions, except that write_kit() writes
// files and profile_side() measures.
#pragma once

#include "base/enumerators.hpp"
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

// The profile of one side.
struct KitSide {
  std::string label;  // "candidate", "base", "stored, 1a2b3c4d, 2026-11-20T08:00:00Z"
  std::vector<Activity> activities;          // activities of one or more iterations
  std::map<std::string, std::string> facts;  // from the profile pass: "isa", "threads"
  std::optional<std::string> end;  // how the pass failed, "SIGSEGV ..."; nullopt if it succeeded
};

// Makes a side from the activities of a profile. Keeps the activities within iterations; if none
// is, keeps all. Times start at 0. The trace names their process for `label` and the case.
KitSide make_kit_side(std::string label, const std::vector<Activity>& profile);
// The number of the process is unknown.
KitSide make_kit_side(std::string label, const StoredProfile& stored, const std::string& case_id);

// One activity of an iteration, on both sides.
struct KitRow {
  BENCH_MEMBER_ENUM(Change, vanished, appeared, slower, faster, same);
  Change change = Change::same;
  std::string scope;  // layer
  std::string name;   // primitive; repetitions within an iteration get " #2", " #3", ...
  std::optional<Nanoseconds> base, candidate;  // medians over the iterations
  std::string base_implementation, candidate_implementation;
};
// Returns one row per activity, the largest time difference first. Times that differ by at most
// `tolerance` (a fraction) count as equal.
std::vector<KitRow> compare_sides(const KitSide& base, const KitSide& candidate, double tolerance);

struct Kit {
  const GateFile* gate;
  const CaseAssessment* judgement;
  std::optional<KitSide> base, candidate;  // nullopt: there is no profile of the side
  std::vector<std::string> notes;          // why a side is missing
};

// Compares the total times of the activities on both sides, and states whether their ratio
// contradicts the verdict's effect. Returns an empty text without both sides or without an effect.
std::string describe_kit_total(const Kit& kit, const std::vector<KitRow>& rows);

// Describes what else changed: implementation, layout, ISA, library, machine speed. Never empty.
std::string describe_kit_changes(const Kit& kit, const std::vector<KitRow>& rows);
// Returns the text of the kit's README.md.
std::string format_kit(const Kit& kit, const std::vector<KitRow>& rows);

// Creates `folder` with README.md and samples.jsonl, and with trace.json and timeline.html if there
// is a profile. samples.jsonl has the lines of the case from `gate_text`, the gate's file.
Status write_kit(const Kit& kit, const std::string& folder, std::string_view gate_text,
                 Existing existing);

// What profile_side() profiles: one case on one side.
struct KitRequest {
  const Case* spec = nullptr;
  ops::InputLayouts input_layouts{};  // for a layer: its input layouts in its network
  std::string choices{};              // what the side chose for the case by measuring
  std::uint64_t seed = 1;
  // Outcome of the case on this side. A failed case runs as in its measurement: with the check, and
  // with a record of each activity's begin.
  Outcome outcome = Outcome::ok;
  std::string label;
  // Time per iteration: the shorter it is, the more iterations are profiled. nullopt if unknown.
  std::optional<Nanoseconds> iteration_time{};
};

// Returns what the side ran until it ended, even if it failed. Returns an error if no worker starts
// or no temporary folder can be created. `interrupted`: whether the user has interrupted the gate.
Result<KitSide> profile_side(const WorkerFactory& start, const HelloRequest& hello,
                             const std::function<bool()>& interrupted, const KitRequest& request,
                             Env& env);

}  // namespace bench
