// SPDX-License-Identifier: Apache-2.0
// Builds the evidence of the cases from the candidate's run and the store.
#pragma once

#include "base/result.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/result/report.hpp"
#include "harness/store/store.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

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
