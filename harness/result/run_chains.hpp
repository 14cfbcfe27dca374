// SPDX-License-Identifier: Apache-2.0
// Finds runs that belong together: one run and those that resumed it with --resume.
#pragma once

#include "harness/result/record.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

class RunChains {
 public:
  explicit RunChains(const std::vector<RunRecord>& runs);
  // Returns the first run of the chain of `run_id`, or `run_id` itself if it resumes no known run.
  const std::string& origin(const std::string& run_id) const;

 private:
  std::unordered_map<std::string, std::string> origin_;
};

}  // namespace bench
