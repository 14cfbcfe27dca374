// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/allocations.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

class AllocationPairing {
 public:
  void take(const GpuAllocation& change) {
    const std::pair key{change.place.device, change.address};
    if (const auto live = live_blocks_.find(key); live != live_blocks_.end()) {
      release(blocks_.blocks[live->second], change.at);
      live_blocks_.erase(live);
    } else if (change.change == GpuAllocationChange::release) {
      ++blocks_.unknown_releases;
      early_releases_[key] = change.at;
    }
    if (change.change == GpuAllocationChange::allocation) allocate(change, key);
  }
  GpuBlocks take_result() { return std::move(blocks_); }

 private:
  void allocate(const GpuAllocation& change, std::pair<std::int64_t, std::uint64_t> key) {
    live_blocks_.emplace(key, blocks_.blocks.size());
    const std::int64_t live = add_live(change, change.bytes, change.at);
    blocks_.blocks.push_back({&change, std::nullopt, live});
    // A block that is released at the time of its allocation: the release was sorted first.
    const auto early = early_releases_.find(key);
    if (early == early_releases_.end() || early->second != change.at) return;
    --blocks_.unknown_releases;
    early_releases_.erase(early);
    release(blocks_.blocks.back(), change.at);
    live_blocks_.erase(key);
  }
  void release(GpuBlock& block, Nanoseconds at) {
    block.released = at;
    add_live(*block.allocation, -block.allocation->bytes, at);
  }
  std::int64_t add_live(const GpuAllocation& allocation, std::int64_t bytes, Nanoseconds at) {
    if (!is_device_memory(allocation.memory)) return 0;
    std::int64_t& live = live_bytes_[allocation.place.device];
    live += bytes;
    blocks_.live[allocation.place.device].push_back({at, static_cast<double>(live)});
    return live;
  }

  using Key = std::pair<std::int64_t, std::uint64_t>;  // device and address

  GpuBlocks blocks_;
  std::map<Key, std::size_t> live_blocks_;
  std::map<Key, Nanoseconds> early_releases_;  // the latest release of what was not live
  std::map<std::int64_t, std::int64_t> live_bytes_;
};

}  // namespace

bool is_device_memory(GpuMemoryKind kind) {
  return kind != GpuMemoryKind::pinned && kind != GpuMemoryKind::pageable;
}

GpuBlocks pair_allocations(std::span<const GpuAllocation* const> changes) {
  std::vector<const GpuAllocation*> sorted(changes.begin(), changes.end());
  // At equal times, releases sort first: the address can be reused at once.
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::pair(a->at, a->change == GpuAllocationChange::allocation) <
           std::pair(b->at, b->change == GpuAllocationChange::allocation);
  });
  AllocationPairing pairing;
  for (const GpuAllocation* change : sorted) pairing.take(*change);
  return pairing.take_result();
}

}  // namespace bench
