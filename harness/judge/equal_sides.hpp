// SPDX-License-Identifier: Apache-2.0
// Finds out whether the two sides of a gate are the same thing. Such a gate finds no regression
// whatever the change is, for example because a variable is misspelt.
#pragma once

#include "harness/judge/evidence_file.hpp"

#include <optional>
#include <string>

namespace bench {

// Returns a sentence without a full stop that states that both sides are the same program with the
// same libraries, and which variables therefore had no effect. Returns nullopt if the sides differ,
// if there is no base, and if it is unknown. Variables of one side count as a difference if the
// judgements show any effect of them: another implementation, memory size or output, or a time that
// became slower or faster. Their effect on cases of a GPU is unknown, because a worker loads the
// libraries of a GPU later.
std::optional<std::string> describe_equal_sides(const GateFile& gate);

// Draws the conclusion of a whole gate, which gives its exit status: that of the evidence
// (harness/judge/conclusion.hpp), except that equal sides may not pass (ExitRules::equal_sides).
// Its sentence begins with that of describe_equal_sides().
Conclusion conclude(const GateFile& gate, const ExitRules& rules);

}  // namespace bench
