// SPDX-License-Identifier: Apache-2.0
// From the candidate's run, and what the store holds, to the evidence of its cases.
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

// One per case record of the report, in their order; without what the store says.
std::vector<CaseEvidence> stage_one(const Report& report);

// What the store says, for the cases of one machine class.
struct StoredSuite {
  std::vector<Canaries> canaries;     // one a stored run
  std::vector<std::string> removed;   // ids of this configuration that have no case any more
  std::vector<std::string> problems;  // lines that could not be read, with their place
  std::vector<Change> changes;        // of libraries, caps and environment since the last run
  bool holds_configuration = false;   // any run of this configuration, of whatever machine class
};
// Fills `stored` of the cases, by the hashes of the report's records. Error: the store's folder
// cannot be read.
Result<StoredSuite> add_stored(const Report& report, const BaselineStore& store,
                               std::vector<CaseEvidence>& cases);

// The largest change of a canary beyond `limit` and three deviations of the stored ones: within the
// run, or against the store. Absent if nothing changed by that much or nothing is known.
std::optional<MachineDrift> machine_moved(std::span<const CanaryRecord> run,
                                          std::span<const Canaries> stored, double limit);

}  // namespace bench
