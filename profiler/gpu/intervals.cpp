// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/intervals.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <utility>

namespace bench {

std::vector<GpuInterval> merge_intervals(std::vector<GpuInterval> intervals) {
  std::erase_if(intervals,
                [](const GpuInterval& interval) { return interval.end <= interval.start; });
  std::sort(intervals.begin(), intervals.end());
  std::vector<GpuInterval> disjoint;
  for (const GpuInterval& interval : intervals) {
    if (!disjoint.empty() && interval.start <= disjoint.back().end) {
      disjoint.back().end = std::max(disjoint.back().end, interval.end);
    } else {
      disjoint.push_back(interval);
    }
  }
  return disjoint;
}

Nanoseconds total_length(std::span<const GpuInterval> intervals) {
  Nanoseconds total{0};
  for (const GpuInterval& interval : intervals) total += interval.length();
  return total;
}

std::vector<CounterPoint> covered_percent(std::span<const GpuInterval> disjoint,
                                          Nanoseconds period) {
  assert(period.count() > 0);
  std::vector<CounterPoint> points;
  if (disjoint.empty()) return points;
  const Nanoseconds last = disjoint.back().end;
  std::size_t next = 0;
  for (Nanoseconds begin = disjoint.front().start; begin < last; begin += period) {
    const Nanoseconds end = std::min(begin + period, last);
    Nanoseconds covered{0};
    while (next < disjoint.size() && disjoint[next].start < end) {
      covered += std::min(disjoint[next].end, end) - std::max(disjoint[next].start, begin);
      if (disjoint[next].end > end) break;  // the next period counts the rest
      ++next;
    }
    points.push_back({begin, 100.0 * static_cast<double>(covered.count()) /
                                 static_cast<double>((end - begin).count())});
  }
  points.push_back({last, 0});
  return points;
}

std::vector<CounterPoint> busy_percent(std::span<const GpuInterval> disjoint) {
  // About as many points as a timeline has pixels. A period must not be so short that one kernel
  // fills it.
  constexpr std::int64_t kMaxPoints = 1000;
  constexpr Nanoseconds kMinPeriod = std::chrono::microseconds(100);
  const Nanoseconds window = disjoint.back().end - disjoint.front().start;
  return covered_percent(disjoint, std::max(window / kMaxPoints + Nanoseconds(1), kMinPeriod));
}

std::vector<CounterPoint> open_count(std::span<const GpuInterval> intervals) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const GpuInterval& interval : intervals) {
    changes.emplace_back(interval.start, 1);
    changes.emplace_back(interval.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<CounterPoint> points;
  std::int64_t open = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    open += changes[i].second;
    const bool more_at_same_time =
        i + 1 < changes.size() && changes[i + 1].first == changes[i].first;
    if (!more_at_same_time) points.push_back({changes[i].first, static_cast<double>(open)});
  }
  return points;
}

}  // namespace bench
