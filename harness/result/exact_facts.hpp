// SPDX-License-Identifier: Apache-2.0
// What of a case is the same in every run unless something changed, and so is compared exactly.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <string>

namespace bench {

// Names in CaseRecord::details.
inline constexpr const char* kPrimitivesDetail = "primitives";       // of one iteration
inline constexpr const char* kOutputDigestDetail = "output.digest";  // of the checked output
// In place of a digest: processes of one case gave different ones, as threads that add in another
// order do.
inline constexpr const char* kDigestVaries = "varies";

// Those two, "layout.source" and its like, "memory.peak_bytes", "memory.weights_bytes" and
// "memory.workspace_bytes"; absent where the record does not say.
std::map<std::string, std::string> exact_facts(const CaseRecord& record);

}  // namespace bench
