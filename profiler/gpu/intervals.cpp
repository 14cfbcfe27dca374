// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/intervals.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace bench {

std::vector<GpuInterval> united(std::vector<GpuInterval> intervals) {
  std::erase_if(intervals, [](const GpuInterval& each) { return each.end <= each.start; });
  std::sort(intervals.begin(), intervals.end());
  std::vector<GpuInterval> apart;
  for (const GpuInterval& each : intervals) {
    if (!apart.empty() && each.start <= apart.back().end) {
      apart.back().end = std::max(apart.back().end, each.end);
    } else {
      apart.push_back(each);
    }
  }
  return apart;
}

Nanoseconds total_length(std::span<const GpuInterval> intervals) {
  Nanoseconds total{0};
  for (const GpuInterval& each : intervals) total += each.length();
  return total;
}

std::vector<CounterPoint> covered_percent(std::span<const GpuInterval> apart, Nanoseconds period) {
  assert(period.count() > 0);
  std::vector<CounterPoint> points;
  if (apart.empty()) return points;
  const Nanoseconds last = apart.back().end;
  std::size_t next = 0;
  for (Nanoseconds begin = apart.front().start; begin < last; begin += period) {
    const Nanoseconds end = std::min(begin + period, last);
    Nanoseconds covered{0};
    while (next < apart.size() && apart[next].start < end) {
      covered += std::min(apart[next].end, end) - std::max(apart[next].start, begin);
      if (apart[next].end > end) break;  // the rest of it is in the next period
      ++next;
    }
    points.push_back({begin, 100.0 * static_cast<double>(covered.count()) /
                                 static_cast<double>((end - begin).count())});
  }
  points.push_back({last, 0});
  return points;
}

std::vector<CounterPoint> open_count(std::span<const GpuInterval> intervals) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const GpuInterval& each : intervals) {
    changes.emplace_back(each.start, 1);
    changes.emplace_back(each.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::vector<CounterPoint> points;
  std::int64_t open = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    open += changes[i].second;
    const bool more = i + 1 < changes.size() && changes[i + 1].first == changes[i].first;
    if (!more) points.push_back({changes[i].first, static_cast<double>(open)});
  }
  return points;
}

}  // namespace bench
