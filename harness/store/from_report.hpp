// SPDX-License-Identifier: Apache-2.0
// From a run's report to what the store keeps of it. Pure functions.
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
  std::vector<BaselineRecord> records;  // one a case, in the report's order; epoch 0
  std::vector<RefusedCase> refused;
};

// Who says so, and from what.
struct Acceptance {
  std::string reason;
  std::optional<std::string> anchor;
  std::string accepted_from;
};

// The cases with outcome `ok`. Refused, each with its reason: other outcomes, times taken below a
// vendor's tool, with an injected slowdown, of an interrupted case, of an unknown machine.
// `profiles` by case id, from IterationSink.
ReportBaselines baselines_of(const Report& report, const Acceptance& acceptance,
                             const std::map<std::string, StoredProfile>& profiles);

}  // namespace bench
