// SPDX-License-Identifier: Apache-2.0
// Warms up a case: runs it until the configured iterations and time are reached and the last
// samples agree, or until a time limit. Also chooses the number of iterations per sample.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/wire/worker_limits.hpp"
#include "harness/worker/rotation.hpp"

#include <cstdint>
#include <span>

namespace bench {

// Number of samples that must agree at the end of the warm-up.
inline constexpr std::size_t kSteadySamples = 5;
// Samples agree if each differs from their median by at most the larger of two limits. The first is
// this number of median absolute deviations.
inline constexpr int kSteadyDeviations = 2;
// The second is this fraction of the median. It is needed because equal samples have a deviation of
// 0. For differences below 1 %, further warm-up has no benefit.
inline constexpr double kSteadyShare = 0.01;
// A device's clock is steady if its medians in the third and in the last quarter of the warm-up's
// samples differ by at most this fraction. Runs whose clocks differ by 3 % are not compared.
inline constexpr double kSteadyClockShare = 0.01;

// Returns true if all samples are within the limits above. Also true for no samples.
bool samples_agree(std::span<const Nanoseconds> samples);

// Returns true if the clocks have settled. They are in hertz, in the order of the samples. Also
// true for fewer than kSteadySamples, which are too few to judge.
bool clock_has_settled(std::span<const std::int64_t> clocks);

// Returns 1 if one iteration is long enough for a sample. Otherwise returns the number of
// iterations that a sample needs, with a margin of a tenth.
std::int64_t iterations_per_sample(Nanoseconds iteration, const BatchLimits& limits);

struct WarmUpResult {
  std::int64_t iterations = 0;
  std::int64_t iterations_per_sample = 1;
  bool steady = true;     // samples agree, and the device's clock has settled
  Nanoseconds sample{0};  // median of the last samples
};

// Runs at least `iterations` iterations and at least `time` on the host's clock, until the last
// samples agree or kWarmupTimeFactor times the time has passed. Samples are on the sampler's clock.
// Returns an error if an invocation failed.
Result<WarmUpResult> warm_up(Sampler& sampler, std::int64_t iterations, Nanoseconds time,
                             Clock& clock);
// The same on the host's clock, even if the kernel has a device clock.
Result<WarmUpResult> warm_up(Rotation& rotation, std::int64_t iterations, Nanoseconds time,
                             Clock& clock);

}  // namespace bench
