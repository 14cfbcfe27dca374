// SPDX-License-Identifier: Apache-2.0
// Converts the report of a run to records of the store. Pure functions.
#pragma once

#include "harness/result/report.hpp"
#include "harness/store/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct RefusedCase {
  std::string id;
  std::string reason;
  friend bool operator==(const RefusedCase&, const RefusedCase&) = default;
};

struct ReportBaselines {
  std::vector<BaselineRecord> records;  // one per case, in the report's order; epoch 0
  std::vector<RefusedCase> refused;
};

// Why the user accepts the results, and the file that contains them.
struct Acceptance {
  std::string reason;
  std::optional<std::string> anchor;
  std::string accepted_from;
};

// Returns records of the cases with outcome `ok`. Refuses a case, with a reason, if it has another
// outcome, was interrupted, or has no process records. Also refuses it if it was measured under a
// profiler, with an injected slowdown, or on an unknown machine. `profiles`, by case id, come from
// IterationSink.
ReportBaselines make_baselines(const Report& report, const Acceptance& acceptance,
                               const std::map<std::string, StoredProfile>& profiles);

}  // namespace bench
