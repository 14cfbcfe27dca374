// SPDX-License-Identifier: Apache-2.0
// Pairs the allocations and releases of a recorded session into blocks with a lifetime.
#pragma once

#include "profiler/gpu/intervals.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

struct GpuBlock {
  const GpuAllocation* allocation = nullptr;  // never null
  std::optional<Nanoseconds> released;        // nullopt if never released
  std::int64_t live_bytes = 0;                // bytes of all live blocks after this allocation
};

struct GpuBlocks {
  std::vector<GpuBlock> blocks;                            // sorted by time of allocation
  std::map<std::int64_t, std::vector<CounterPoint>> live;  // bytes after each change; by device
  // Number of releases whose block was allocated before the recording began. They do not change
  // `live`, which counts only blocks that were allocated during the recording.
  std::int64_t unknown_releases = 0;
};

// Returns whether this kind of memory occupies device memory. Host memory that the device can
// access does not.
bool is_device_memory(GpuMemoryKind kind);

// `changes` may be in any order. If an address is allocated again without a release, the earlier
// block counts as released at that time.
GpuBlocks pair_allocations(std::span<const GpuAllocation* const> changes);

}  // namespace bench
