// SPDX-License-Identifier: Apache-2.0
// What made the time of a case of a gate change (harness/judge/cause.hpp). Pure functions.
#pragma once

#include "harness/judge/cause.hpp"
#include "harness/judge/evidence_file.hpp"

#include <optional>

namespace bench {

// Returns the facts of a side whose worker was inspected.
Facts side_facts(const GateSide& side);

// Judges the change of a case. Returns nullopt if the gate shows no change of its time, or if
// nothing is known about a side.
std::optional<CauseFinding> find_gate_cause(const GateFile& gate, const CaseAssessment& judgement);

}  // namespace bench
