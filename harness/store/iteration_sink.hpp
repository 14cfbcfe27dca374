// SPDX-License-Identifier: Apache-2.0
// Selects one iteration of each case from the stream of a run's profile.
#pragma once

#include "harness/store/record.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

// Keeps the executed activities of the iteration with the median duration, per case, because later
// comparisons use medians. Considers only the first kMaxIterations iterations.
class IterationSink final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override;
  // Returns profiles by case id, each of at most kMaxProfile bytes.
  std::map<std::string, StoredProfile> profiles() const;

 private:
  static constexpr std::size_t kMaxIterations = 11;
  struct Case {
    std::unordered_map<std::int64_t, std::vector<StoredActivity>>
        unfinished;  // by iteration number
    std::vector<StoredProfile> iterations;
  };
  std::map<std::string, Case> cases_;
};

}  // namespace bench
