// SPDX-License-Identifier: Apache-2.0
// The exact properties of a case: they are equal in every run unless something changed, so they are
// compared exactly.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <string>

namespace bench {

// Names in CaseRecord::details.
inline constexpr const char* kPrimitivesDetail = "primitives";       // primitives of one iteration
inline constexpr const char* kOutputDigestDetail = "output.digest";  // digest of the checked output
// Replaces a digest if processes of one case gave different ones, for example because threads add
// in varying order.
inline constexpr const char* kDigestVaries = "varies";

// Returns these two details, "layout.source" and similar ones, "memory.peak_bytes",
// "memory.weights_bytes" and "memory.workspace_bytes". Omits those that the record lacks.
std::map<std::string, std::string> exact_facts(const CaseRecord& record);

}  // namespace bench
