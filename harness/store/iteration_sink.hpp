// SPDX-License-Identifier: Apache-2.0
// Selects one iteration of each case from a run's profile while it streams by.
#pragma once

#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

// Whether the activity is executed work: a primitive, kernel or copy. Surrounding calls and scopes
// do not show what the machine did.
bool is_executed(ActivityKind kind);

// Keeps the executed activities of each case's median iteration by duration, since a later
// comparison uses medians. Considers only the first kMaxIterations iterations.
class IterationSink final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override;
  // Returns profiles by case id, each within kMaxProfile.
  std::map<std::string, StoredProfile> profiles() const;

 private:
  static constexpr std::size_t kMaxIterations = 11;
  struct Case {
    std::unordered_map<std::int64_t, std::vector<StoredActivity>> open;  // by iteration number
    std::vector<StoredProfile> iterations;
  };
  std::map<std::string, Case> cases_;
};

}  // namespace bench
