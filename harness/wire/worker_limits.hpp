// SPDX-License-Identifier: Apache-2.0
// How long a worker may take beyond the work that it was asked for: by these its coordinator knows
// when it hangs.
#pragma once

#include "base/units.hpp"

#include <chrono>

namespace bench {

// A warm-up ends after so many times the time asked for, steady or not.
inline constexpr int kWarmupTimeFactor = 10;
// A worker whose device voids sample after sample waits for it: this long at first, and twice as
// long each further time,
inline constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(50);
// ... at most so often in a round: 1.55 s. Then the round ends with what it has.
inline constexpr int kMaxPauses = 5;

}  // namespace bench
