// SPDX-License-Identifier: Apache-2.0
#include "harness/result/run_chains.hpp"

namespace bench {

RunChains::RunChains(const std::vector<RunRecord>& runs) {
  for (const RunRecord& run : runs) {
    // A run can resume only runs that were read before, so there are no cycles.
    const auto resumed = run.resumes ? origin_.find(*run.resumes) : origin_.end();
    const std::string origin = resumed != origin_.end() ? resumed->second : run.run_id;
    origin_.try_emplace(run.run_id, origin);
  }
}

const std::string& RunChains::origin(const std::string& run_id) const {
  const auto found = origin_.find(run_id);
  return found == origin_.end() ? run_id : found->second;
}

}  // namespace bench
