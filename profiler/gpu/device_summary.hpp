// SPDX-License-Identifier: Apache-2.0
// What a device did in a profile: kernels, the gaps between them, copies. Fed with activities, so
// that it serves profiles of every origin.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bench {

// Copies, or fills of memory.
struct GpuTransfers {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  Nanoseconds total{0};              // while they ran
  std::optional<Nanoseconds> mean;   // of total
  std::optional<Nanoseconds> waits;  // sum of what each was queued before it ran; absent: unknown
};

struct GpuDeviceSummary {
  std::int64_t pid = 0;
  std::int64_t device = 0;
  std::int64_t kernels = 0;  // with a known time
  Nanoseconds kernel_sum{0};
  Nanoseconds kernel_union{0};       // overlapping kernels counted once: busy time
  Nanoseconds window{0};             // from the first kernel's start to the last one's end
  std::optional<double> busy_share;  // union / window
  std::int64_t gaps = 0;             // times without a kernel, within the window
  Nanoseconds gap_total{0};
  std::optional<Nanoseconds> gap_max;
  GpuTransfers copies, fills;
};

class GpuSummary final : public ActivitySink {
 public:
  // In any order; what is not on a device passes.
  Status take(const Activity& activity) override;
  // By process and device.
  std::vector<GpuDeviceSummary> devices() const;

 private:
  struct Times {
    std::vector<GpuInterval> kernels;
    GpuTransfers copies, fills;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Times> devices_;
};

}  // namespace bench
