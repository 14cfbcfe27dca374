// SPDX-License-Identifier: Apache-2.0
// --filter and --device: which cases of a plan stay.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/config/reader.hpp"

#include <string>
#include <vector>

namespace bench {

// Removes what no filter (GLOB over the whole id, or /REGEX/ anywhere in it) matches, and what runs
// on other devices; without filters or devices nothing. Wrong patterns and device names, and a
// selection that leaves nothing, are findings.
void select_cases(const std::vector<std::string>& filters, const std::vector<std::string>& devices,
                  Findings& findings, std::vector<Case>& cases);

}  // namespace bench
