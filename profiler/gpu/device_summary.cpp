// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/device_summary.hpp"

#include "profiler/gpu/intervals.hpp"
#include "profiler/gpu/measuring_kernels.hpp"

#include <algorithm>

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

}  // namespace bench
