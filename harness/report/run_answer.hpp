// SPDX-License-Identifier: Apache-2.0
// What a run found, in sentences: how much it measured, how near the times are to the machine's
// ceilings, where time can be recovered, and what makes the times unsure. Pure functions.
#pragma once

#include "harness/result/report.hpp"

#include <string>
#include <vector>

namespace bench {

// Returns "Measured 30 of 33 cases in 41.2 s, 2 noisy; 3 skipped." or, without any time,
// nothing_measured_sentence() (console.hpp).
std::string answer_sentence(const Report& report);

// Returns at most six sentences, the most important first. Each that states an uncertainty names
// the option or command that reduces it. Empty without any time. The sums count each layer as often
// as its network has it, and a whole network only without its layers.
std::vector<std::string> answer_notes(const Report& report);

}  // namespace bench
