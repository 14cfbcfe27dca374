// SPDX-License-Identifier: Apache-2.0
// How long a worker may take beyond the work requested of it. The coordinator uses these limits to
// detect a hanging worker.
#pragma once

#include "base/units.hpp"

#include <chrono>

namespace bench {

// A warm-up ends at this multiple of the requested time, steady or not.
inline constexpr int kWarmupTimeFactor = 10;
// If a worker's device invalidates sample after sample, the worker pauses: for this time at first,
// and for twice the previous time on each further pause,
inline constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(50);
// ... at most this many times per round: 1.55 s in all. Then the round ends with the samples that
// it has.
inline constexpr int kMaxPauses = 5;

}  // namespace bench
