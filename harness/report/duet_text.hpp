// SPDX-License-Identifier: Apache-2.0
// The text of `bench duet` for several cases: what changed between the sides.
#pragma once

#include "harness/judge/evidence_file.hpp"
#include "harness/report/console.hpp"

#include <string>

namespace bench {

// Returns the first sentence: "oneDNN 3.1.0 against 3.2.0: 2 of 14 cases changed, 1 slower and 1
// faster with 3.2.0." The sides are named by the libraries that differ, or else as base and
// candidate. A case has changed if its time did by GateSettings::delta or more, beyond chance.
std::string format_change_answer(const GateFile& gate);

// Returns the sentence, both sides, a table of the cases that changed with the implementation of
// both sides, and what is known of the others. Ends in a newline.
std::string format_changed_cases(const GateFile& gate, const ConsoleOptions& console);

}  // namespace bench
