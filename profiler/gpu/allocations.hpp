// SPDX-License-Identifier: Apache-2.0
// Allocations and releases of a recorded session as blocks that lived for a time.
#pragma once

#include "profiler/gpu/intervals.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

struct GpuBlock {
  const GpuAllocation* allocation = nullptr;  // never null
  std::optional<Nanoseconds> released;        // absent: never
  std::int64_t live_bytes = 0;                // on its device, after its allocation
};

struct GpuBlocks {
  std::vector<GpuBlock> blocks;                            // by time of allocation
  std::map<std::int64_t, std::vector<CounterPoint>> live;  // bytes, by device, at every change
  // Releases of blocks that were allocated before anything was recorded. They change nothing, so
  // live bytes count from there.
  std::int64_t unknown_releases = 0;
};

// Whether memory of this kind takes up the device's: not memory of the host that it can reach.
bool is_device_memory(GpuMemoryKind kind);

// In any order. An address that is allocated again without a release counts as released then.
GpuBlocks pair_allocations(std::span<const GpuAllocation* const> changes);

}  // namespace bench
