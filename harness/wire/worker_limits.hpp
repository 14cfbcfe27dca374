// SPDX-License-Identifier: Apache-2.0
// Limits of the time that a worker may take beyond the requested work. The coordinator uses them to
// detect a hanging worker.
#pragma once

#include "base/units.hpp"

#include <chrono>

namespace bench {

// A warm-up ends at this multiple of the requested time, even if it is not steady.
inline constexpr int kWarmupTimeFactor = 10;
// If a worker's device invalidates sample after sample, the worker pauses. The first pause of a
// round takes this time, and each further pause takes twice the previous time.
inline constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(50);
// Maximum number of pauses per round, 1.55 s in total. After them, the round ends with the valid
// samples.
inline constexpr int kMaxPauses = 5;

}  // namespace bench
