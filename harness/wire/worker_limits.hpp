// SPDX-License-Identifier: Apache-2.0
// Limits of what a worker may do and say. The coordinator uses them to detect a worker that hangs
// or whose replies cannot be true.
#pragma once

#include "base/units.hpp"

#include <chrono>
#include <cstdint>

namespace bench {

// A warm-up ends at this multiple of the requested time, even if it is not steady.
inline constexpr int kWarmupTimeFactor = 10;
// If a worker's device invalidates sample after sample, the worker pauses. The first pause of a
// round takes this time, and each further pause takes twice the previous time.
inline constexpr Nanoseconds kFirstPause = std::chrono::milliseconds(50);
// Maximum number of pauses per round, 1.55 s in total. After them, the round ends with the valid
// samples.
inline constexpr int kMaxPauses = 5;

// Maximum number of iterations per sample, for kernels that take no measurable time.
inline constexpr std::int64_t kMaxIterationsPerSample = 1'000'000;
// Maximum of an integer in a reply: more nanoseconds than a year has. Sums of them fit into 64
// bits.
inline constexpr std::int64_t kMaxReplyInteger = std::int64_t{1} << 55;
// Two readings of clocks may differ by this much over one request.
inline constexpr Nanoseconds kReplyClockTolerance = std::chrono::milliseconds(1);
// The same for the clock of a device, which need not agree with the host's. It bounds the time that
// the coordinator waits for samples.
inline constexpr Nanoseconds kDeviceClockTolerance = std::chrono::seconds(1);
// A worker lengthens times on a device's clock by up to this factor without waiting
// (kSlowdownVariable).
inline constexpr int kMaxReplySlowdown = 2;

}  // namespace bench
