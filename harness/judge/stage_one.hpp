// SPDX-License-Identifier: Apache-2.0
// Stage 1 of a gate: the evidence from the candidate's run and from the store, and the screen.
#pragma once

#include "base/result.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/result/report.hpp"
#include "harness/store/history.hpp"
#include "harness/store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Computes mean and variation of the stored runs, with which a gate compares. Sets runs,
// log_level, sigma, q95, q99 and by_speed of the cases that have a comparable `stored`.
// `statistics` has one entry per case: the comparable stored runs. The sigmas are moderated towards
// the suite's sigma. If the variation is unknown, `runs` is 0, and the case is measured again.
void set_stored_levels(std::span<CaseEvidence> cases, std::span<const StoredStatistics> statistics);

// Returns log(time of a case / its time in the store), at equal speed of the machine if both have
// canaries. `iteration`: median nanoseconds of an iteration. Returns nullopt if the time is unknown
// or only the store has canaries.
std::optional<LogEstimate> compare_with_store(const StoredEvidence& stored,
                                              const std::optional<TimesBySpeed>& by_speed,
                                              std::optional<double> iteration);

// The result of the screen, which decides which cases need no measurement in stage 2. With a base
// it clears none, since stage 1 then has one process per case (shorten_stage_one()). A case that is
// slower by `detect` is clear with a probability of at most 5 %. A case that is too noisy is never
// clear.
struct ScreenResult {
  enum class State { clear, open };
  State state = State::open;
  std::optional<double> excess;  // log(candidate's time / time of the store)
  std::optional<double> limit;   // maximum excess of a clear case
  std::string reason;            // why the case is open; may be empty
};

ScreenResult screen(const CaseEvidence& entry, const GateSettings& settings);

// Returns one entry per case record of the report, in their order, without stored data.
std::vector<CaseEvidence> collect_stage_one(const Report& report);

// What the store has for a run, besides the evidence of its cases.
struct StoredSuite {
  std::vector<std::string> removed;   // as GateEvidence::removed
  std::vector<std::string> problems;  // unreadable lines, with their location
  std::vector<Change> changes;        // of libraries, caps and environment since the last run
  bool has_configuration = false;     // as GateEvidence::configuration_is_stored
};
// Looks up the cases of the report's last run in the store and sets `stored` of each case that the
// store has. Returns an error if the store's folder cannot be read.
Result<StoredSuite> add_stored(const Report& report, const BaselineStore& store,
                               std::vector<CaseEvidence>& cases);

}  // namespace bench
