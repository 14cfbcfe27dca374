// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/allocation_log.hpp"

#include <chrono>
#include <cstdint>
#include <variant>

namespace bench::ops::cuda {
namespace {

// A first cudaMalloc may take this long, and the tracer's timestamp is somewhere within it.
constexpr Nanoseconds kMaxCall = std::chrono::seconds(1);

}  // namespace

void AllocationLog::record_allocation(const void* address, Bytes size, std::string_view role,
                                      Nanoseconds at) {
  if (!is_recording_) return;
  taken_[reinterpret_cast<std::uintptr_t>(address)].push_back({size, std::string(role), at});
}

const AllocationLog::Taken* AllocationLog::nearest(const GpuAllocation& allocation) const {
  const auto at_address = taken_.find(allocation.address);
  if (at_address == taken_.end()) return nullptr;
  const Taken* found = nullptr;
  Nanoseconds least = kMaxCall;
  for (const Taken& taken : at_address->second) {
    const Nanoseconds distance = std::chrono::abs(taken.at - allocation.at);
    if (taken.size.count != allocation.bytes || distance > least) continue;
    least = distance;
    found = &taken;
  }
  return found;
}

void AllocationLog::set_roles(std::vector<GpuRecord>& records) const {
  for (GpuRecord& record : records) {
    auto* allocation = std::get_if<GpuAllocation>(&record);
    if (allocation == nullptr || allocation->change != GpuAllocationChange::allocation) continue;
    const Taken* const taken = nearest(*allocation);
    if (taken != nullptr && !taken->role.empty()) allocation->role = taken->role;
  }
}

}  // namespace bench::ops::cuda
