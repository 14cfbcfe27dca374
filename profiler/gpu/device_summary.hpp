// SPDX-License-Identifier: Apache-2.0
// Summarises what a device did in a profile (kernels, gaps between them, and copies), and what its
// memory was used for: the peak and its composition. Both consume activities, so they work for
// profiles of any origin.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// Memory copies or memsets.
struct GpuTransfers {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  Nanoseconds total{0};             // total duration
  std::optional<Nanoseconds> mean;  // mean duration
  // sum of the times that they waited before they ran; nullopt if unknown
  std::optional<Nanoseconds> queue_time;
};

struct GpuDeviceSummary {
  std::int64_t pid = 0;
  std::int64_t device = 0;
  std::int64_t kernels = 0;  // number of kernels with a known time
  Nanoseconds kernel_sum{0};
  Nanoseconds kernel_union{0};  // busy time: overlapping kernels count once
  Nanoseconds window{0};        // from the start of the first kernel to the end of the last one
  std::optional<double> busy_share;  // union / window
  std::int64_t gaps = 0;             // number of periods without a kernel within the window
  Nanoseconds gap_total{0};
  std::optional<Nanoseconds> gap_max;
  GpuTransfers copies, memsets;
};

class GpuSummary final : public ActivitySink {
 public:
  // Activities may come in any order. Those that are not on a device are ignored.
  Status consume(const Activity& activity) override;
  // Sorted by process and device.
  std::vector<GpuDeviceSummary> devices() const;

 private:
  struct Times {
    std::vector<GpuInterval> kernels;
    GpuTransfers copies, memsets;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Times> devices_;
};

struct GpuMemoryUse {
  std::int64_t pid = 0;
  std::int64_t device = 0;
  Bytes peak;                            // of known allocations
  std::map<std::string, Bytes> by_role;  // composition at the first moment of the peak
  // The most memory that no allocation explained at any moment; nullopt if unknown.
  std::optional<Bytes> max_unexplained;
};

class GpuMemorySummary final : public ActivitySink {
 public:
  // Accepts activities in any order. Ignores those that are not about device memory. An allocation
  // without a role of its own counts as `library`, whatever kind of memory it is.
  Status consume(const Activity& activity) override;
  // Sorted by process and device.
  std::vector<GpuMemoryUse> devices() const;

 private:
  struct Change {
    Nanoseconds at{0};
    std::int64_t bytes = 0;  // negative for a release
    std::string role;
  };
  struct Device {
    std::vector<Change> changes;
    std::optional<Bytes> max_unexplained;
  };
  static void find_peak(std::vector<Change> changes, GpuMemoryUse& use);
  std::map<std::pair<std::int64_t, std::int64_t>, Device> devices_;
};

}  // namespace bench
