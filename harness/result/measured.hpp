// SPDX-License-Identifier: Apache-2.0
// What the records of several processes and runs of a case have in common.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace bench {

// The exact properties of a case: they are equal in every run unless something changed, so they are
// compared exactly.

// Names in CaseRecord::details.
inline constexpr const char* kPrimitivesDetail = "primitives";       // primitives of one iteration
inline constexpr const char* kOutputDigestDetail = "output.digest";  // digest of the checked output
// Replaces a digest if processes of one case gave different ones, for example because threads add
// in varying order.
inline constexpr const char* kDigestVaries = "varies";

// Returns these two details, "layout.source" and similar ones, "memory.peak_bytes",
// "memory.weights_bytes" and "memory.workspace_bytes". Omits those that the record lacks.
std::map<std::string, std::string> exact_facts(const CaseRecord& record);

// Finds runs that belong together: one run and those that resumed it with --resume.

class RunChains {
 public:
  explicit RunChains(const std::vector<RunRecord>& runs);
  // Returns the first run of the chain of `run_id`, or `run_id` itself if it resumes no known run.
  const std::string& origin(const std::string& run_id) const;

 private:
  std::unordered_map<std::string, std::string> origin_;
};

}  // namespace bench
