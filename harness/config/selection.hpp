// SPDX-License-Identifier: Apache-2.0
// --filter and --device: select the cases of a plan.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <string>
#include <vector>

namespace bench {

// Removes cases that match no filter (GLOB for the complete id, or /REGEX/ anywhere in it) or run
// on another device. Without filters or devices, removes nothing. Reports invalid patterns and
// device names, and a selection that leaves no case.
void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Findings& findings, std::vector<Case>& cases);

}  // namespace bench
