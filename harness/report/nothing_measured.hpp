// SPDX-License-Identifier: Apache-2.0
// Sentences for a run without any time: its table could be mistaken for a result.
#pragma once

#include "harness/result/report.hpp"

#include <optional>
#include <string>

namespace bench {

// Returns "Nothing was measured: 2 of 3 cases skipped, 1 unsupported; the reasons are below."
// Returns nullopt if there are no cases, or if a case has a time or may still get one (outcome ok).
std::optional<std::string> nothing_measured_sentence(const Report& report);

// Whether every case is skipped or unsupported, which is not a failure.
bool has_only_skipped_cases(const Report& report);

}  // namespace bench
