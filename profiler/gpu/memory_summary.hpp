// SPDX-License-Identifier: Apache-2.0
// Summarises what device memory was used for in a profile: the peak and its composition. It
// consumes activities, so it works for profiles of any origin.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/activity.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

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
