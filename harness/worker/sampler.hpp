// SPDX-License-Identifier: Apache-2.0
// Takes samples on the host's clock, with the canaries around each, and on a device's. This file
// has the rules for accepting a device's sample (docs/cuda.md).
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "harness/wire/worker_limits.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sample_canary.hpp"
#include "ops/backend/kernel.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace bench {

// Limits for samples on the host's clock. In a shorter sample, the two clock reads and their jitter
// would exceed a thousandth of the time.
inline constexpr BatchLimits kHostBatch = {std::chrono::microseconds(50),
                                           std::chrono::microseconds(100)};
// Limits for samples on a device's clock. The two events around a sample take about 2 us
// themselves, and their time has a resolution of half a microsecond. Measuring the device's clock
// needs a sample of at least 0.4 ms.
inline constexpr BatchLimits kDeviceBatch = {std::chrono::milliseconds(1),
                                             std::chrono::milliseconds(1)};
// A sample whose clock is below this fraction of the recent median is marked, unless the device has
// marked it already. A clock alone never discards a sample: a device at its power cap changes its
// clock all the time, and only its fast samples would remain.
inline constexpr double kMinClockShare = 0.90;
// Minimum number of samples for a median that judges another sample.
inline constexpr std::size_t kClocksToJudge = 3;
// Number of recent samples whose median clock judges the next one. If the device settles at a lower
// clock without reporting a reason, half as many samples are marked before the lower clock counts
// as normal.
inline constexpr std::size_t kRecentClocks = 15;
// After each series of this many discarded samples, the sampler pauses (kFirstPause, kMaxPauses).
inline constexpr int kVoidsBeforePause = 3;

// A preemption lengthens a sample by microseconds or milliseconds. Long samples always have some,
// so one preemption is permitted per this time. A shorter sample must have none to count as quiet.
inline constexpr Nanoseconds kTimeOfOnePreemption = std::chrono::milliseconds(50);

// Measures the canaries of one case's samples. The canary after a sample is the one before the
// next.
class CanaryBracket {
 public:
  // `canary`: not owned; null: there are no canaries, and the functions do nothing. `threads`:
  // those of the samples. If they are not the canary's, the canary's sleep before a sample begins.
  CanaryBracket(SampleCanary* canary, ops::KernelThreads threads)
      : canary_(canary), threads_(threads) {}

  // Discards the last canary, because other work may run between two rounds.
  void begin_round() { last_.reset(); }
  void leave_out() { canary_ = nullptr; }
  // Must be called immediately before each sample.
  void open();
  // Adds the canary of a sample that took `time` to `out`; 0 if the sample was preempted. Must be
  // called immediately after the sample.
  void close(Nanoseconds time, RoundSamples& out);

 private:
  SampleCanary* canary_;
  ops::KernelThreads threads_;
  std::optional<Nanoseconds> last_;  // in this round
  std::int64_t preemptions_ = 0;     // before the sample
};

struct SamplerOptions {
  // Lengthens each accepted sample by this fraction: the host spins, and a device's time is
  // increased.
  std::optional<double> slowdown = std::nullopt;
  std::function<void(Nanoseconds)> pause = {};        // sleeps; empty: the real sleep
  ops::SampleMethod method = ops::SampleMethod::any;  // for the warm-up, on a device's clock
  SampleCanary* canary = nullptr;  // for samples on the host's clock; not owned; null: no canaries
  ops::KernelThreads threads = ops::KernelThreads::openmp;  // those of the samples
};

// Creates a sampler that uses the kernel's own samples if the kernel has a device clock, and
// otherwise times run() with `clock`. The kernel determines `options.threads`. The references must
// outlive the sampler. Use a sampler for one case only, because its knowledge of the device's clock
// does not apply to other cases.
std::unique_ptr<Sampler> make_sampler(ops::Kernel& kernel, Rotation& rotation, Clock& clock,
                                      SamplerOptions options = {});
std::unique_ptr<Sampler> make_host_sampler(Rotation& rotation, Clock& clock,
                                           const SamplerOptions& options = {});

}  // namespace bench
