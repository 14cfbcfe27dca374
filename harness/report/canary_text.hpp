// SPDX-License-Identifier: Apache-2.0
// One-line summaries of what a run's canaries show about its machine.
#pragma once

#include "harness/result/report.hpp"

#include <string>

namespace bench {

// Returns "canaries: fma 515.0 us, l2 248.0 us, dram 905.0 us, timer 32.70 us; before to after +0.1
// %, ..." for the last run with canaries. The change requires canaries before and after. "machine
// speed changed" follows if a change exceeds the limit. Empty if no run has canaries.
std::string canary_text(const Report& report);

// Summarises the canaries next to samples. The text gives the number of quiet samples, which count,
// and the number of processes that were disturbed or had threads farther apart. It also gives the
// number of cases that were never quiet. Empty if no case has such canaries or all samples were
// quiet.
std::string quiet_text(const Report& report);

}  // namespace bench
