// SPDX-License-Identifier: Apache-2.0
#include "harness/run/stop_rule.hpp"

#include "harness/stats/summary.hpp"

#include <algorithm>

namespace bench {

std::optional<StopReason> stop_reason(const StopRule& rule, std::span<const Nanoseconds> samples,
                                      std::int64_t measured, Nanoseconds timed) {
  if (std::ssize(samples) >= rule.min_samples) {
    const std::optional<double> width = relative_half_width(samples, kStopCoverage);
    if (width && *width <= rule.precision) return StopReason::precision;
  }
  if (measured > 0 && (timed >= rule.time_per_process || measured >= kMaxSamples))
    return StopReason::max_time;
  return std::nullopt;
}

std::int64_t next_round(const StopRule& rule, std::int64_t measured, Nanoseconds timed,
                        Nanoseconds sample) {
  const std::int64_t duration = std::max<std::int64_t>(sample.count(), 1);
  const Nanoseconds limit = measured == 0 ? kFirstRoundTime : kRoundTime;
  const Nanoseconds remaining = std::min(limit, rule.time_per_process - timed);
  const std::int64_t preferred = measured == 0 ? rule.min_samples : measured;
  // Rounds up, so that the process reaches its time.
  const std::int64_t max_samples =
      (std::max<std::int64_t>(remaining.count(), 0) + duration - 1) / duration;
  return std::clamp<std::int64_t>(std::min(preferred, max_samples), 1, kMaxSamples);
}

}  // namespace bench
