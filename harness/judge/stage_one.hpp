// SPDX-License-Identifier: Apache-2.0
// Builds the evidence of the cases from the candidate's run and the store.
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

// Computes the level and the noise that a gate compares with from the stored runs of each case.
// Serves real runs (stage_one.hpp) and resampled ones (simulation.hpp).

// Sets runs, mean_log_q25, sigma, q95 and q99 of the cases that have a comparable `stored`.
// `levels` has one entry per case: its runs of the present configuration, in the order of the
// store. The sigmas come from the medians and are moderated towards the suite's sigma. The other
// values come from the lower quartiles. A case of unknown noise gets runs = 0 and is measured
// again.
void set_stored_levels(std::span<CaseEvidence> cases,
                       std::span<const std::vector<RunStatistics>> levels);

// The screen of stage 1: it decides which cases need no second measurement. A case that is slower
// by `detect` passes with a probability of at most 5 %. A case that is too noisy never passes.

struct Screened {
  enum class Result { clear, suspect };
  Result result = Result::suspect;
  std::optional<double> excess;  // log of the candidate's q25 over the store's
  std::optional<double> limit;   // the largest excess that is clear
  std::string reason;            // why it is suspect
};

// `moved`: why stage 1 is not comparable for any case; nullopt if it is.
Screened screen(const CaseEvidence& entry, const GateSettings& settings,
                const std::optional<std::string>& moved);

// Returns one entry per case record of the report, in their order, without stored data.
std::vector<CaseEvidence> stage_one(const Report& report);

// The stored data that concerns the cases of one machine class.
struct StoredSuite {
  std::vector<Canaries> canaries;    // one entry per stored run
  std::vector<std::string> removed;  // ids stored for this configuration that it no longer contains
  std::vector<std::string> problems;  // unreadable lines, with their location
  std::vector<Change> changes;        // libraries, caps and environment since the last run
  bool holds_configuration = false;   // whether any machine class has a run of this configuration
};
// Fills `stored` of the cases if the hashes of the report's records match. Returns an error if the
// store's folder cannot be read.
Result<StoredSuite> add_stored(const Report& report, const BaselineStore& store,
                               std::vector<CaseEvidence>& cases);

// Returns the largest change of a canary, within the run or since the stored runs. Counts changes
// beyond both `limit` and three deviations of the stored canaries. Returns nullopt if there is
// none.
std::optional<MachineDrift> machine_moved(std::span<const CanaryRecord> run,
                                          std::span<const Canaries> stored, double limit);

}  // namespace bench
