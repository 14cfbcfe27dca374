// SPDX-License-Identifier: Apache-2.0
// Decides when a process has measured a case for long enough, and how large its next round is. Pure
// functions.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace bench {

struct StopRule {
  double precision = 0;          // sufficient relative half width of the median's interval
  std::int64_t min_samples = 1;  // required before the precision may end a process
  Nanoseconds share{0};          // timed time per process
};

// Coverage of the interval that is compared with the precision.
inline constexpr double kStopCoverage = 0.95;
// Approximate maximum time of a round. Interrupts, the budget and the stop rule are checked between
// rounds. A round trip of about 100 us is negligible against it.
inline constexpr Nanoseconds kRoundTime = std::chrono::milliseconds(100);
// The first round may take longer if that makes it the only one.
inline constexpr Nanoseconds kFirstRoundTime = std::chrono::milliseconds(200);
// Limit for a kernel without measurable time, which would never use up its share.
inline constexpr std::int64_t kMaxSamples = 1'000'000;

// `samples`: the accepted, quiet ones; `taken` and `timed`: number and time of all. Returns nullopt
// if measuring goes on.
std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t taken, Nanoseconds timed);

// Samples of the next round, at least 1. Short samples begin with min_samples; each further round
// takes as many as there are already. A round never exceeds the time of a round or the rest of the
// share. `sample`: expected duration of one.
std::int64_t next_round(const StopRule& rule, std::int64_t taken, Nanoseconds timed,
                        Nanoseconds sample);

}  // namespace bench
