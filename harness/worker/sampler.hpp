// SPDX-License-Identifier: Apache-2.0
// Samples on the host's clock and on a device's. The rules by which a device's sample counts are
// here: docs/cuda.md.
#pragma once

#include "base/env.hpp"
#include "harness/wire/worker_limits.hpp"
#include "harness/worker/sample_canary.hpp"
#include "harness/worker/sampling.hpp"
#include "ops/backend/kernel.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace bench {

// Two clock reads and their jitter would be more than a thousandth of a shorter iteration
// (gates.md 3.2).
inline constexpr BatchLimits kHostBatch = {std::chrono::microseconds(50),
                                           std::chrono::microseconds(100)};
// Between a device's two events lies some 2 us of its own, and their time comes in steps of half a
// microsecond; its clock is read over 0.4 ms at least.
inline constexpr BatchLimits kDeviceBatch = {std::chrono::milliseconds(1),
                                             std::chrono::milliseconds(1)};
// A sample whose clock is below this fraction of the recent median is discarded, unless the device
// reports it as throttled: a power cap is a steady state, in which every sample is slow.
inline constexpr double kMinClockShare = 0.90;
// A median of fewer samples does not judge another one.
inline constexpr std::size_t kClocksToJudge = 3;
// The samples whose median clock counts. If the device settles at a lower clock without reporting
// why, half as many samples are discarded before the lower clock is the normal one.
inline constexpr std::size_t kRecentClocks = 15;
// After so many voids in a row it waits for the device (kFirstPause, kMaxPauses).
inline constexpr int kVoidsBeforePause = 3;

// A preemption costs a sample some microseconds or milliseconds. A short one that had any is not
// quiet; of long ones, which always have some, each so many milliseconds may have one.
inline constexpr Nanoseconds kTimeOfOnePreemption = std::chrono::milliseconds(50);

struct SamplerOptions {
  // Each counted sample is made longer by this share: spun on the host, added to a device's time.
  std::optional<double> slowdown = std::nullopt;
  std::function<void(Nanoseconds)> pause = {};        // sleeps; empty: sleeps in earnest
  ops::SampleMethod method = ops::SampleMethod::any;  // of the warm-up, on a device's clock
  SampleCanary* canary = nullptr;  // beside each sample on the host's clock; not owned, null: none
};

// By the kernel's own samples where it has a device's clock, else around run() by `clock`. Kernel
// and rotation outlive it. Of one case: what it learns of the device's clock is of no other.
std::unique_ptr<Sampler> make_sampler(ops::Kernel& kernel, Rotation& rotation, Clock& clock,
                                      SamplerOptions options = {});
std::unique_ptr<Sampler> make_host_sampler(Rotation& rotation, Clock& clock,
                                           const SamplerOptions& options = {});

}  // namespace bench
