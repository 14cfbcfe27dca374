// SPDX-License-Identifier: Apache-2.0
// Which runs belong together: one and those that continued it with --resume.
#pragma once

#include "harness/result/record.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

class RunChains {
 public:
  explicit RunChains(const std::vector<RunRecord>& runs);
  // The first run of the chain that `run_id` belongs to; itself where it resumes no known one.
  const std::string& origin(const std::string& run_id) const;

 private:
  std::unordered_map<std::string, std::string> origin_;
};

}  // namespace bench
