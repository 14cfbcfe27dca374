// SPDX-License-Identifier: Apache-2.0
// Judges a gate without a base: the candidate's windows against the store. It detects only effects
// beyond run-to-run variation. Private to this folder.
#pragma once

#include "harness/judge/decide.hpp"

namespace bench {

// Requires that the case is a suspect and has a comparable stored case and all its windows.
void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence, Judgement& judgement);

}  // namespace bench
