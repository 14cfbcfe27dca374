// SPDX-License-Identifier: Apache-2.0
#include "harness/result/measured.hpp"

#include <string_view>

namespace bench {

namespace {

// Whether the detail is a library of another backend than that of the handshake, which the run
// record names.
bool is_library(std::string_view detail) {
  return detail.starts_with("library.") && !detail.ends_with(".path");
}

bool is_exact(std::string_view detail) {
  return is_library(detail) || detail.starts_with("layout.") || detail == kPrimitivesDetail ||
         detail == kOutputDigestDetail;
}

}  // namespace

std::map<std::string, std::string> exact_facts(const CaseRecord& record) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : record.details) {
    if (is_exact(name)) facts[name] = value;
  }
  if (record.memory) {
    facts["memory.peak_bytes"] = std::to_string(record.memory->peak.count);
    facts["memory.weights_bytes"] = std::to_string(record.memory->weights.count);
    facts["memory.workspace_bytes"] = std::to_string(record.memory->workspace.count);
  }
  return facts;
}

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
