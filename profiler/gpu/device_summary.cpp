// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/device_summary.hpp"

#include "profiler/gpu/gpu_record.hpp"
#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/measuring_kernels.hpp"
#include "profiler/gpu/reading_counters.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace bench {
namespace {

void add(GpuTransfers& transfers, const Activity& activity) {
  ++transfers.count;
  transfers.bytes += activity.attributes.integer(Attribute::size_bytes).value_or(0);
  transfers.total += *activity.duration;
  if (const auto wait = activity.attributes.integer(Attribute::wait_ns)) {
    transfers.queue_time = transfers.queue_time.value_or(Nanoseconds(0)) + Nanoseconds(*wait);
  }
}

void finish(GpuTransfers& transfers) {
  if (transfers.count > 0) transfers.mean = transfers.total / transfers.count;
}

void summarise_kernels(const std::vector<GpuInterval>& kernels, GpuDeviceSummary& summary) {
  summary.kernels = static_cast<std::int64_t>(kernels.size());
  summary.kernel_sum = total_length(kernels);
  const std::vector<GpuInterval> busy_intervals = merge_intervals(kernels);
  summary.kernel_union = total_length(busy_intervals);
  if (busy_intervals.empty()) return;
  summary.window = busy_intervals.back().end - busy_intervals.front().start;
  summary.busy_share = static_cast<double>(summary.kernel_union.count()) /
                       static_cast<double>(summary.window.count());
  for (std::size_t i = 1; i < busy_intervals.size(); ++i) {
    const Nanoseconds gap = busy_intervals[i].start - busy_intervals[i - 1].end;
    ++summary.gaps;
    summary.gap_total += gap;
    summary.gap_max = std::max(gap, summary.gap_max.value_or(Nanoseconds(0)));
  }
}

}  // namespace

Status GpuSummary::consume(const Activity& activity) {
  if (!activity.track.device || !activity.duration) return Done{};
  const std::pair key{activity.track.pid, *activity.track.device};
  if (activity.kind == ActivityKind::kernel) {
    if (is_measuring_kernel(activity.name)) return Done{};
    devices_[key].kernels.push_back({activity.start, activity.start + *activity.duration});
  } else if (activity.kind == ActivityKind::memcpy) {
    add(devices_[key].copies, activity);
  } else if (activity.kind == ActivityKind::memset) {
    add(devices_[key].memsets, activity);
  }
  return Done{};
}

std::vector<GpuDeviceSummary> GpuSummary::devices() const {
  std::vector<GpuDeviceSummary> summaries;
  for (const auto& [key, times] : devices_) {
    GpuDeviceSummary summary;
    summary.pid = key.first;
    summary.device = key.second;
    summary.copies = times.copies;
    summary.memsets = times.memsets;
    finish(summary.copies);
    finish(summary.memsets);
    summarise_kernels(times.kernels, summary);
    summaries.push_back(summary);
  }
  return summaries;
}

namespace {

constexpr std::string_view kLibraryRole = "library";

// Returns the role of an allocation. A role that only states the kind of memory counts as none: the
// allocation belongs to a library.
std::string find_role(const Activity& activity) {
  const std::string_view role = activity.attributes.text(Attribute::role);
  const auto kinds = enumerator_names(GpuMemoryKind::unknown);
  const bool is_kind = std::find(kinds.begin(), kinds.end(), role) != kinds.end();
  return std::string(is_kind || role.empty() ? kLibraryRole : role);
}

}  // namespace

Status GpuMemorySummary::consume(const Activity& activity) {
  if (!activity.track.device) return Done{};
  const std::pair key{activity.track.pid, *activity.track.device};
  if (activity.kind == ActivityKind::counter && activity.name == kOtherBytesCounter) {
    const auto value = activity.attributes.real(Attribute::value);
    if (!value || !std::isfinite(*value)) return Done{};
    std::optional<Bytes>& maximum = devices_[key].max_unexplained;
    maximum = std::max(maximum.value_or(Bytes{0}), Bytes{std::llround(*value)});
  }
  const auto size = activity.attributes.integer(Attribute::size_bytes);
  if (activity.kind != ActivityKind::allocation || !size) return Done{};
  std::vector<Change>& changes = devices_[key].changes;
  const std::string role = find_role(activity);
  changes.push_back({activity.start, *size, role});
  if (activity.duration) changes.push_back({activity.start + *activity.duration, -*size, role});
  return Done{};
}

void GpuMemorySummary::find_peak(std::vector<Change> changes, GpuMemoryUse& use) {
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.at, a.bytes > 0) < std::pair(b.at, b.bytes > 0);
  });
  Bytes live{0};
  std::map<std::string, Bytes> by_role;
  for (const Change& change : changes) {
    live.count += change.bytes;
    by_role[change.role].count += change.bytes;
    if (live <= use.peak) continue;
    use.peak = live;
    use.by_role = by_role;
  }
  std::erase_if(use.by_role, [](const auto& part) { return part.second.count == 0; });
}

std::vector<GpuMemoryUse> GpuMemorySummary::devices() const {
  std::vector<GpuMemoryUse> uses;
  for (const auto& [key, device] : devices_) {
    GpuMemoryUse use;
    use.pid = key.first;
    use.device = key.second;
    use.max_unexplained = device.max_unexplained;
    find_peak(device.changes, use);
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace bench
