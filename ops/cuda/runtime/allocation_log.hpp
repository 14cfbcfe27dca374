// SPDX-License-Identifier: Apache-2.0
// What the plugin's own allocations are for: a tracer sees who called, not why.
#pragma once

#include "base/units.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Used by the thread that uses the device.
class AllocationLog {
 public:
  // Until then nothing is kept.
  void begin() { keeps_ = true; }
  // `role`: "workspace"; empty: others know it. `at`: CLOCK_MONOTONIC, when the call had returned.
  void took(const void* address, Bytes size, std::string_view role, Nanoseconds at);
  // Gives traced allocations their role: each the one that was taken at its address, with its size,
  // nearest in time; none that is further away than a call takes.
  void tell(std::vector<GpuRecord>& records) const;

 private:
  struct Taken {
    Bytes size;
    std::string role;
    Nanoseconds at{0};
  };
  const Taken* nearest(const GpuAllocation& allocation) const;

  bool keeps_ = false;
  std::map<std::uint64_t, std::vector<Taken>> taken_;  // by address
};

}  // namespace bench::ops::cuda
