// SPDX-License-Identifier: Apache-2.0
// When a process has measured a case for long enough, and how large its next round is. Pure
// functions.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace bench {

struct StopRule {
  double precision = 0;          // relative half width of the median's interval that suffices
  std::int64_t min_samples = 1;  // before that may end a process
  Nanoseconds share{0};          // timed time of one process
};

// Coverage of the interval that is compared with the precision.
inline constexpr double kStopCoverage = 0.95;
// A round takes at most about so long: an interrupt, a budget and the stop rule are looked at
// between rounds, and a round trip of some 100 us is nothing against it.
inline constexpr Nanoseconds kRoundTime = std::chrono::milliseconds(100);
// The first round may take longer when that makes it the only one.
inline constexpr Nanoseconds kFirstRoundTime = std::chrono::milliseconds(200);
// A kernel that takes no measurable time would never use up its share.
inline constexpr std::int64_t kMaxSamples = 1'000'000;

// `samples`: those that count, the quiet ones; `taken` and `timed`: number and time of all. Absent:
// go on.
std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t taken, Nanoseconds timed);

// Samples of the next round, at least 1: first min_samples where these are short, then as many as
// there are already, always within the time of a round and what is left of the share. `sample` is
// the expected duration of one.
std::int64_t next_round(const StopRule& rule, std::int64_t taken, Nanoseconds timed,
                        Nanoseconds sample);

}  // namespace bench
