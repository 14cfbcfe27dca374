// SPDX-License-Identifier: Apache-2.0
// Picks one iteration of each case out of a run's profile, as it streams by.
#pragma once

#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

// What ran: primitives, kernels, copies. The calls and scopes around them say nothing of the
// machine.
bool is_executed(ActivityKind kind);

// Keeps what is executed in the median iteration of each case, by duration: a later comparison lays
// it beside medians. Iterations beyond the first kMaxIterations are not considered.
class IterationSink final : public ActivitySink {
 public:
  Status take(const Activity& activity) override;
  // By case id, each within kMaxProfile.
  std::map<std::string, StoredProfile> profiles() const;

 private:
  static constexpr std::size_t kMaxIterations = 11;
  struct Case {
    std::unordered_map<std::int64_t, std::vector<StoredActivity>> open;  // by number of iteration
    std::vector<StoredProfile> iterations;
  };
  std::map<std::string, Case> cases_;
};

}  // namespace bench
