// SPDX-License-Identifier: Apache-2.0
// What a run's canaries say of its machine, in one line.
#pragma once

#include "harness/result/report.hpp"

#include <string>

namespace bench {

// "canaries: fma 515.0 us, l2 248.0 us, dram 905.0 us, timer 32.70 us; before to after +0.1 %,
// ...". Of the last run that has them; the shift only where both ends were taken, and "the machine
// moved" where one is beyond the limit. Empty: no run has any.
std::string canary_text(const Report& report);

// "the machine was quiet beside 9,210 of 13,512 samples, and these alone count; 4 of 69 processes
// (2.1 s) were disturbed throughout, or their threads lay farther apart"; how many cases were never
// quiet. Empty: no case has canaries beside its samples, or all were quiet.
std::string quiet_text(const Report& report);

}  // namespace bench
