// SPDX-License-Identifier: Apache-2.0
// What to say of a run without a single time: its table alone looks like a result.
#pragma once

#include "harness/result/report.hpp"

#include <optional>
#include <string>

namespace bench {

// "Nothing was measured: 2 of 3 cases skipped, 1 unsupported; the reasons are below." Nullopt if a
// case has a time or may still get one (outcome ok), and if there are no cases.
std::optional<std::string> nothing_measured_sentence(const Report& report);

// Every case is skipped or unsupported, which is not a failure.
bool has_only_skipped_cases(const Report& report);

}  // namespace bench
