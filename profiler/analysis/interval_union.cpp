// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/interval_union.hpp"

#include <algorithm>
#include <iterator>

namespace bench::analysis {

void IntervalUnion::add(Nanoseconds begin, Nanoseconds end) {
  if (end <= begin) return;
  auto first = parts_.upper_bound(begin);
  if (first != parts_.begin() && std::prev(first)->second.end >= begin) --first;
  Part merged{end, Nanoseconds(0)};
  Nanoseconds merged_begin = begin;
  Nanoseconds gaps{0};
  auto last = first;
  for (; last != parts_.end() && last->first <= end; ++last) {
    const auto& [part_begin, part] = *last;
    total_ -= part.covered;
    // The new interval fills the gaps of a part that it encloses.
    if (part_begin < begin || part.end > end) gaps += part.end - part_begin - part.covered;
    merged_begin = std::min(merged_begin, part_begin);
    merged.end = std::max(merged.end, part.end);
  }
  merged.covered = merged.end - merged_begin - gaps;
  total_ += merged.covered;
  parts_.erase(first, last);
  parts_.emplace(merged_begin, merged);
  if (parts_.size() > limit_) join_oldest();
}

// Joins pairs in the older half, so that this is rare.
void IntervalUnion::join_oldest() {
  auto part = parts_.begin();
  for (std::size_t i = 0; i < limit_ / 4; ++i) {
    const auto next = std::next(part);
    if (next == parts_.end()) return;
    part->second.end = next->second.end;
    part->second.covered += next->second.covered;
    part = parts_.erase(next);
  }
}

}  // namespace bench::analysis
