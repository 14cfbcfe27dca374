// SPDX-License-Identifier: Apache-2.0
// Samples on the host's clock and on a device's. This file has the rules for accepting a device's
// sample: docs/cuda.md.
#pragma once

#include "base/env.hpp"
#include "harness/wire/worker_limits.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sample_canary.hpp"
#include "ops/backend/kernel.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace bench {

// For a shorter iteration, two clock reads and their jitter would exceed a thousandth of its time.
inline constexpr BatchLimits kHostBatch = {std::chrono::microseconds(50),
                                           std::chrono::microseconds(100)};
// A device's two events add about 2 us of their own, and their time has a resolution of half a
// microsecond. The device's clock is read over at least 0.4 ms.
inline constexpr BatchLimits kDeviceBatch = {std::chrono::milliseconds(1),
                                             std::chrono::milliseconds(1)};
// A sample whose clock is below this fraction of the recent median is discarded, unless the device
// reports it as throttled. A power cap is a steady state, in which every sample is slow.
inline constexpr double kMinClockShare = 0.90;
// With fewer samples, the median is not used to judge another sample.
inline constexpr std::size_t kClocksToJudge = 3;
// The samples whose median clock counts. If the device settles at a lower clock without reporting
// why, half as many samples are discarded before the lower clock is the normal one.
inline constexpr std::size_t kRecentClocks = 15;
// After this many discarded samples in a row, the sampler waits for the device (kFirstPause,
// kMaxPauses).
inline constexpr int kVoidsBeforePause = 3;

// A preemption costs a sample some microseconds or milliseconds. A short sample with any preemption
// is not quiet. Long samples always have some: one is permitted per this time.
inline constexpr Nanoseconds kTimeOfOnePreemption = std::chrono::milliseconds(50);

struct SamplerOptions {
  // Lengthens each accepted sample by this fraction: the host spins, and a device's time is
  // increased.
  std::optional<double> slowdown = std::nullopt;
  std::function<void(Nanoseconds)> pause = {};        // sleeps; empty: the real sleep
  ops::SampleMethod method = ops::SampleMethod::any;  // for the warm-up, on a device's clock
  SampleCanary* canary = nullptr;  // for samples on the host's clock; not owned, null: none
};

// Uses the kernel's own samples if it has a device clock, else times run() with `clock`. Kernel and
// rotation outlive the sampler. A sampler serves one case: what it learns about the device's clock
// does not apply to another.
std::unique_ptr<Sampler> make_sampler(ops::Kernel& kernel, Rotation& rotation, Clock& clock,
                                      SamplerOptions options = {});
std::unique_ptr<Sampler> make_host_sampler(Rotation& rotation, Clock& clock,
                                           const SamplerOptions& options = {});

}  // namespace bench
