// SPDX-License-Identifier: Apache-2.0
#include "harness/run/stop_rule.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>

namespace bench {

std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t taken, Nanoseconds timed) {
  if (std::ssize(samples) >= rule.min_samples) {
    const std::optional<double> width = relative_half_width(samples, kStopCoverage);
    if (width && *width <= rule.precision) return StopReason::precision;
  }
  if (taken > 0 && (timed >= rule.share || taken >= kMaxSamples)) return StopReason::max_time;
  return std::nullopt;
}

std::int64_t next_round(const StopRule& rule, std::int64_t taken, Nanoseconds timed,
                        Nanoseconds sample) {
  const std::int64_t duration = std::max<std::int64_t>(sample.count(), 1);
  const Nanoseconds limit = taken == 0 ? kFirstRoundTime : kRoundTime;
  const Nanoseconds left = std::min(limit, rule.share - timed);
  const std::int64_t wanted = taken == 0 ? rule.min_samples : taken;
  // Rounded up: a share that is not a multiple of the sample must still be used up.
  const std::int64_t fits = (std::max<std::int64_t>(left.count(), 0) + duration - 1) / duration;
  return std::clamp<std::int64_t>(std::min(wanted, fits), 1, kMaxSamples);
}

}  // namespace bench
