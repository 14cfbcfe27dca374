// SPDX-License-Identifier: Apache-2.0
// Without a base: the candidate's windows against the store. It sees only effects beyond what runs
// of this machine class differ anyway. Private to this folder.
#pragma once

#include "harness/judge/decide.hpp"

namespace bench {

// The case is a suspect, has a comparable stored case and all its windows.
void judge_windows(const CaseEvidence& entry, const GateEvidence& evidence, Judgement& judgement);

}  // namespace bench
