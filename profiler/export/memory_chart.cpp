// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/memory_chart.hpp"

#include <algorithm>
#include <limits>

namespace bench {

LiveBytes live_bytes(std::vector<MemoryChange> changes) {
  std::sort(changes.begin(), changes.end(), [](const MemoryChange& a, const MemoryChange& b) {
    return a.time != b.time ? a.time < b.time : a.change < b.change;
  });
  LiveBytes result;
  std::int64_t live = 0;
  for (const MemoryChange& change : changes) {
    // A malformed file can contain any size.
    if (__builtin_add_overflow(live, change.change, &live)) live = 0;
    if (!result.steps.empty() && result.steps.back().first == change.time) {
      result.steps.back().second = live;
    } else {
      result.steps.emplace_back(change.time, live);
    }
    if (live <= result.peak) continue;
    result.peak = live;
    result.peak_time = change.time;
  }
  return result;
}

namespace {

constexpr double kBreak = 8;               // height of a break
constexpr double kMaxBreakFraction = 0.4;  // maximum fraction of the height that all breaks use
constexpr std::uint64_t kGapDivisor = 50;  // gaps above 1/50 of the used bytes become breaks

using Range = std::pair<std::uint64_t, std::uint64_t>;

std::uint64_t end_address(const MemoryBlock& block) {
  const auto size = static_cast<std::uint64_t>(block.size);
  const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - block.address;
  return block.address + std::min(size, room);
}

// Merges ranges that are at most `gap` bytes apart.
std::vector<Range> merge_ranges(const std::vector<Range>& sorted, std::uint64_t gap) {
  std::vector<Range> result;
  for (const Range& range : sorted) {
    if (!result.empty() &&
        (range.first <= result.back().second || range.first - result.back().second <= gap)) {
      result.back().second = std::max(result.back().second, range.second);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

double bytes_in(const std::vector<Range>& ranges) {
  double sum = 0;
  for (const Range& range : ranges) sum += static_cast<double>(range.second - range.first);
  return sum;
}

}  // namespace

AddressScale::AddressScale(const std::vector<MemoryBlock>& blocks, double height) {
  std::vector<Range> ranges;
  for (const MemoryBlock& block : blocks) ranges.emplace_back(block.address, end_address(block));
  std::sort(ranges.begin(), ranges.end());
  const double used = bytes_in(merge_ranges(ranges, 0));
  const auto gap = static_cast<std::uint64_t>(used / static_cast<double>(kGapDivisor));
  const std::vector<Range> regions = merge_ranges(ranges, gap);
  if (regions.empty()) return;
  const auto breaks = static_cast<double>(regions.size() - 1);
  const double one_break = breaks > 0 ? std::min(kBreak, height * kMaxBreakFraction / breaks) : 0;
  per_byte_ = (height - one_break * breaks) / std::max(1.0, bytes_in(regions));
  double offset = 0;
  for (const Range& region : regions) {
    regions_.push_back({region.first, region.second, offset});
    offset += static_cast<double>(region.second - region.first) * per_byte_ + one_break;
  }
}

double AddressScale::at(std::uint64_t address) const {
  auto region = std::upper_bound(regions_.begin(), regions_.end(), address,
                                 [](std::uint64_t a, const Region& r) { return a < r.begin; });
  if (region == regions_.begin()) return 0;
  --region;
  const std::uint64_t inside = std::min(address, region->end) - region->begin;
  return region->offset + static_cast<double>(inside) * per_byte_;
}

}  // namespace bench
