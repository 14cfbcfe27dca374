// SPDX-License-Identifier: Apache-2.0
// A device's conditions as NVML tells them.
#pragma once

#include "ops/cuda/nvml.hpp"
#include "ops/cuda/runtime/condition_watch.hpp"
#include "ops/cuda/runtime/conditions.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// How a process finds itself among others.
struct ProcessFamily {
  std::int64_t own = 0;
  std::int64_t parent = 0;
  // Absent: there is no such process, or it may not be asked.
  std::function<std::optional<std::int64_t>(std::int64_t pid)> parent_of;
  // Whether there is no such process any more: NVML lists some for a moment longer.
  std::function<bool(std::int64_t pid)> is_gone;
};
// Of this process, from /proc.
ProcessFamily own_family();

// Those that are not this process, its parent or another child of its parent, since a worker knows
// its siblings to wait, and that are still there. Absent: this process is not among them, so that
// their numbers are those of another namespace (a container's outside).
std::optional<std::int64_t> foreign_processes(const std::vector<std::int64_t>& processes,
                                              const ProcessFamily& family);

DeviceConditions conditions_of(const NvmlCounters& counters, const ProcessFamily& family);

// Watches the device at this bus id. Without NVML, or where NVML does not know the device, nothing
// is known but why.
ConditionWatch watch_by_nvml(std::span<const SearchStep> search, const std::string& bus_id,
                             HostClock now);

}  // namespace bench::ops::cuda
