// SPDX-License-Identifier: Apache-2.0
// Decides when a process has measured a case long enough, and how many samples its next round has.
// Pure functions.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace bench {

struct StopRule {
  double precision = 0;             // sufficient relative half width of the median's interval
  std::int64_t min_samples = 1;     // number of samples before the precision may end a process
  Nanoseconds time_per_process{0};  // maximum sum of sample times
};

// Coverage of the median's interval for the precision.
inline constexpr double kStopCoverage = 0.95;
// Approximate maximum time of a round. Interrupts, the budget and the stop rule are checked between
// rounds. The overhead of about 100 us per round is negligible.
inline constexpr Nanoseconds kRoundTime = std::chrono::milliseconds(100);
// Approximate maximum time of the first round. It is longer, so that one round often suffices.
inline constexpr Nanoseconds kFirstRoundTime = std::chrono::milliseconds(200);
// Maximum number of samples, for kernels without measurable time, which never reach
// time_per_process.
inline constexpr std::int64_t kMaxSamples = 1'000'000;

// Returns why the process ends, or nullopt if it continues. `samples`: times of the samples that
// count. `measured` and `timed`: number and total time of all samples.
std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t measured, Nanoseconds timed);

// Returns the number of samples of the next round, at least 1. The first round has min_samples, and
// each further round as many as all rounds before it. The time of a round and the remaining
// time_per_process limit this number. `measured` and `timed`: as above. `sample`: expected time of
// one sample.
std::int64_t next_round(const StopRule& rule, std::int64_t measured, Nanoseconds timed,
                        Nanoseconds sample);

}  // namespace bench
