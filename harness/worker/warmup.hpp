// SPDX-License-Identifier: Apache-2.0
// Warm-up of a bound case until its iterations and time are reached and the last samples agree, and
// the choice of the number of iterations per sample.
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
// ... within this many median absolute deviations of their median,
inline constexpr int kSteadyDeviations = 2;
// ... or this fraction of the median, whichever is more: equal samples have a deviation of 0, and
// below 1 % further warm-up has no benefit.
inline constexpr double kSteadyShare = 0.01;
// A device's clock is steady if its medians in the third and in the last quarter of the warm-up's
// samples differ by at most this fraction. Runs whose clocks differ by 3 % are not compared.
inline constexpr double kSteadyClockShare = 0.01;

// Returns true if all samples are within the limits above around their median; also true for no
// samples.
bool samples_agree(std::span<const Nanoseconds> samples);

// Returns true if the clocks, in hertz and in the order of the samples, have settled. Also true for
// fewer than kSteadySamples, which are too few to judge.
bool clock_has_settled(std::span<const std::int64_t> clocks);

// Returns 1 for iterations that are long enough, else as many as make a sample, with a margin of a
// tenth.
std::int64_t iterations_per_sample(Nanoseconds iteration, const BatchLimits& limits);

struct WarmedUp {
  std::int64_t iterations = 0;
  std::int64_t iterations_per_sample = 1;
  bool steady = true;     // samples agree, and the device's clock has settled
  Nanoseconds sample{0};  // median of the last samples
};

// `time` is on the host's clock; samples are on the sampler's clock. Returns an error if an
// invocation failed.
Result<WarmedUp> warm_up(Sampler& sampler, std::int64_t iterations, Nanoseconds time, Clock& clock);
// Uses the host's clock, even if the kernel has a device clock.
Result<WarmedUp> warm_up(Rotation& rotation, std::int64_t iterations, Nanoseconds time,
                         Clock& clock);

}  // namespace bench
