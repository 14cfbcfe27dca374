// SPDX-License-Identifier: Apache-2.0
// Records the purpose of the plugin's own allocations. A tracer sees the caller but not the
// purpose.
#pragma once

#include "base/units.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Used only by the thread that uses the device.
class AllocationLog {
 public:
  // Starts recording. Before this call nothing is kept.
  void begin() { is_recording_ = true; }
  // `role` is the purpose ("workspace"), or empty if it is recorded elsewhere. `at`:
  // CLOCK_MONOTONIC when the call returned.
  void record_allocation(const void* address, Bytes size, std::string_view role, Nanoseconds at);
  // Adds roles to traced allocations. Each gets the role of the logged allocation with the same
  // address and size that is nearest in time. Ignores logged allocations further away than a call
  // can take.
  void set_roles(std::vector<GpuRecord>& records) const;

 private:
  struct LoggedAllocation {
    Bytes size;
    std::string role;
    Nanoseconds at{0};
  };
  const LoggedAllocation* nearest(const GpuAllocation& allocation) const;

  bool is_recording_ = false;
  std::map<std::uint64_t, std::vector<LoggedAllocation>> allocations_;  // by address
};

}  // namespace bench::ops::cuda
