// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/allocation_log.hpp"

#include <chrono>
#include <cstdint>
#include <variant>

namespace bench::ops::cuda {
namespace {

// The first cudaMalloc of a process may take this long. The tracer's timestamp is within the call.
constexpr Nanoseconds kMaxCallDuration = std::chrono::seconds(1);

}  // namespace

void AllocationLog::record_allocation(const void* address, Bytes size, std::string_view role,
                                      Nanoseconds at) {
  if (!is_recording_) return;
  allocations_[reinterpret_cast<std::uintptr_t>(address)].push_back({size, std::string(role), at});
}

const AllocationLog::LoggedAllocation* AllocationLog::nearest(
    const GpuAllocation& allocation) const {
  const auto at_address = allocations_.find(allocation.address);
  if (at_address == allocations_.end()) return nullptr;
  const LoggedAllocation* nearest_allocation = nullptr;
  Nanoseconds min_distance = kMaxCallDuration;
  for (const LoggedAllocation& logged : at_address->second) {
    const Nanoseconds distance = std::chrono::abs(logged.at - allocation.at);
    if (logged.size.count != allocation.bytes || distance > min_distance) continue;
    min_distance = distance;
    nearest_allocation = &logged;
  }
  return nearest_allocation;
}

void AllocationLog::set_roles(std::vector<GpuRecord>& records) const {
  for (GpuRecord& record : records) {
    auto* allocation = std::get_if<GpuAllocation>(&record);
    if (allocation == nullptr || allocation->change != GpuAllocationChange::allocation) continue;
    const LoggedAllocation* const logged = nearest(*allocation);
    if (logged != nullptr && !logged->role.empty()) allocation->role = logged->role;
  }
}

}  // namespace bench::ops::cuda
