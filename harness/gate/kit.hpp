// SPDX-License-Identifier: Apache-2.0
// The kit of a failing case: both sides' profiles as one trace and one table, what changed in a
// sentence, how to measure it again. Pure but for the files that it writes.
#pragma once

#include "base/file.hpp"
#include "base/result.hpp"
#include "harness/judge/evidence_file.hpp"
#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct KitSide {
  std::string label;  // "candidate", "base", "stored, 1a2b3c4d, 2026-11-20T08:00:00Z"
  std::vector<Activity> activities;          // of some iterations, or of one
  std::map<std::string, std::string> facts;  // of the pass: "isa", "threads"
  std::optional<std::string> end;            // how the pass failed: "SIGSEGV ..."
};

// From a profile's activities: those of its iterations (all, where it came to none), starting at 0,
// on process `pid`, which the trace calls by the label.
KitSide kit_side(std::string label, std::int64_t pid, const std::vector<Activity>& profile);
KitSide kit_side(std::string label, std::int64_t pid, const StoredProfile& stored,
                 const std::string& case_id);

// What one iteration runs, both sides side by side.
struct KitRow {
  enum class Change { vanished, appeared, slower, faster, same };
  Change change = Change::same;
  std::string scope, name;  // layer and primitive; `name` counts where it occurs several times
  std::optional<Nanoseconds> base, candidate;  // medians over the iterations
  std::string base_implementation, candidate_implementation;
};
// The largest difference of time first. Differences up to `tolerance` (a share) are none.
std::vector<KitRow> compare_sides(const KitSide& base, const KitSide& candidate, double tolerance);

struct Kit {
  const GateFile* gate;
  const Judgement* judgement;
  std::optional<KitSide> base;  // absent: nothing is known of it
  std::optional<KitSide> candidate;
  std::vector<std::string> notes;  // why a half is missing
};

// How the activities' total compares with the effect that was judged: a few profiled iterations are
// no measurement. Empty without both sides or an effect.
std::string kit_total(const Kit& kit, const std::vector<KitRow>& rows);

// The changed implementation, layout, ISA, library or clock; always a sentence.
std::string kit_sentence(const Kit& kit, const std::vector<KitRow>& rows);
std::string kit_markdown(const Kit& kit, const std::vector<KitRow>& rows);

// FOLDER/: trace.json and timeline.html (two processes), README.md, samples.jsonl (stage 1 and
// duets of the case, as they stand in `gate_text`, the gate's file). The folder is made.
Status write_kit(const Kit& kit, const std::string& folder, std::string_view gate_text,
                 Existing existing);

}  // namespace bench
