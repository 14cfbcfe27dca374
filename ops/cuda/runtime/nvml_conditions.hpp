// SPDX-License-Identifier: Apache-2.0
// A device's conditions, and its clock, power and memory, as NVML reports them.
#pragma once

#include "ops/cuda/nvml.hpp"
#include "ops/cuda/runtime/conditions.hpp"
#include "ops/cuda/runtime/device_readings.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// A process and its parent. With them, the process finds its siblings among other processes.
struct ProcessFamily {
  std::int64_t own = 0;
  std::int64_t parent = 0;
  // Returns nullopt if there is no such process, or access is denied.
  std::function<std::optional<std::int64_t>(std::int64_t pid)> parent_of;
  // Whether the process has ended. NVML lists some processes for a moment after their end.
  std::function<bool(std::int64_t pid)> is_gone;
};
// The family of this process, read from /proc.
ProcessFamily own_family();

// Counts the running processes that are not this process, its parent or another child of its
// parent. Siblings do not count because they wait while this process measures. Returns nullopt if
// this process is not listed: the ids are then those of another namespace (outside a container).
std::optional<std::int64_t> foreign_processes(const std::vector<std::int64_t>& processes,
                                              const ProcessFamily& family);

DeviceConditions to_conditions(const NvmlCounters& counters, const ProcessFamily& family);

// Watches the device with this bus id. Without NVML, or if NVML does not know the device, the
// watch reports only the reason.
ConditionWatch watch_by_nvml(std::span<const SearchStep> search, const std::string& bus_id,
                             HostClock clock);

// `process` is this process's id in its own namespace. In a container NVML lists it with another id
// or not at all; its memory is then unknown.
DeviceState to_device_state(const NvmlReading& reading, std::int64_t process);

// Loads NVML when called, and reads the device with the bus id that `bus_id` returns then.
StateReaderMaker readings_by_nvml(std::vector<SearchStep> search,
                                  std::function<Result<std::string>()> bus_id);

}  // namespace bench::ops::cuda
