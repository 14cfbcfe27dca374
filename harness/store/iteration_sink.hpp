// SPDX-License-Identifier: Apache-2.0
// Picks one iteration of each case out of a run's profile, as it streams by.
#pragma once

#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace bench {

// What ran: primitives, kernels, copies. The calls and scopes around them say nothing of the
// machine.
bool is_executed(ActivityKind kind);

// Keeps what is executed in the shortest iteration of each case, the one least disturbed.
class IterationSink final : public ActivitySink {
 public:
  Status take(const Activity& activity) override;
  // By case id, each within kLargestProfile.
  std::map<std::string, StoredProfile> profiles() const;

 private:
  struct Case {
    std::unordered_map<std::int64_t, std::vector<StoredActivity>> open;  // by number of iteration
    std::optional<StoredProfile> shortest;
  };
  std::map<std::string, Case> cases_;
};

}  // namespace bench
