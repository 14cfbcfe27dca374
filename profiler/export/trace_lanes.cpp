// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/trace_lanes.hpp"

#include <algorithm>

namespace bench {

std::size_t SortedLanes::place(std::uint32_t track, std::int64_t start, std::int64_t end) {
  if (track >= tracks_.size()) tracks_.resize(track + 1);
  std::vector<Lane>& lanes = tracks_[track];
  for (std::size_t i = 0;; ++i) {
    if (i == lanes.size()) lanes.emplace_back();
    Lane& open = lanes[i];
    while (!open.empty() && open.back() <= start) open.pop_back();
    if (!open.empty() && open.back() < end) continue;
    open.push_back(end);
    return i;
  }
}

namespace {

// Number of intervals remembered per lane; older ones are forgotten. An interval that begins before
// the end of the forgotten ones without spanning them goes to another lane.
constexpr std::size_t kMaxRemembered = 65536;

}  // namespace

std::size_t ArrivalLanes::place(std::uint32_t track, std::int64_t start, std::int64_t end) {
  if (track >= tracks_.size()) tracks_.resize(track + 1);
  std::vector<Lane>& lanes = tracks_[track];
  const Interval interval{start, end};
  const auto lane =
      std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.fits(interval); });
  const auto index = static_cast<std::size_t>(lane - lanes.begin());
  if (lane == lanes.end()) lanes.emplace_back();
  lanes[index].insert(interval);
  return index;
}

bool ArrivalLanes::Lane::fits(const Interval& interval) const {
  const bool spans_forgotten = interval.start <= first && interval.end >= forgotten;
  if (has_forgotten && interval.start < forgotten && !spans_forgotten) return false;
  // Searches from the end, because in order of arrival the last ones are relevant.
  for (auto other = outermost.rbegin(); other != outermost.rend(); ++other) {
    if (other->end <= interval.start) break;
    if (other->start >= interval.end) continue;
    if (other->start < interval.start || other->end > interval.end) return false;
  }
  return true;
}

void ArrivalLanes::Lane::insert(const Interval& interval) {
  first = outermost.empty() && !has_forgotten ? interval.start : std::min(first, interval.start);
  auto end = outermost.end();
  while (end != outermost.begin() && std::prev(end)->start >= interval.end) --end;
  auto begin = end;
  while (begin != outermost.begin() && std::prev(begin)->start >= interval.start) --begin;
  outermost.insert(outermost.erase(begin, end), interval);
  if (outermost.size() <= kMaxRemembered) return;
  forgotten = has_forgotten ? std::max(forgotten, outermost.front().end) : outermost.front().end;
  has_forgotten = true;
  outermost.pop_front();
}

}  // namespace bench
