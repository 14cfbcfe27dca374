// SPDX-License-Identifier: Apache-2.0
// What memory of a device was for, in a profile: the peak, and what it was made of. Fed with
// activities, so that it serves profiles of every origin.
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
  Bytes peak;                            // of what is known to be allocated
  std::map<std::string, Bytes> by_role;  // at the first moment of the peak: its parts
  std::optional<Bytes> other;            // the most that no allocation explains; absent: unknown
};

class GpuMemorySummary final : public ActivitySink {
 public:
  // In any order; what is no memory of a device passes. The role of what a library took is
  // `library`, whatever kind of memory it is.
  Status take(const Activity& activity) override;
  // By process and device.
  std::vector<GpuMemoryUse> devices() const;

 private:
  struct Change {
    Nanoseconds at{0};
    std::int64_t bytes = 0;  // released: negative
    std::string role;
  };
  struct Device {
    std::vector<Change> changes;
    std::optional<Bytes> other;
  };
  static void find_peak(std::vector<Change> changes, GpuMemoryUse& use);
  std::map<std::pair<std::int64_t, std::int64_t>, Device> devices_;
};

}  // namespace bench
