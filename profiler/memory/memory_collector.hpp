// SPDX-License-Identifier: Apache-2.0
// Memory over time: allocations with their time and address, live bytes, and the peak.
#pragma once

#include "base/units.hpp"
#include "profiler/activity.hpp"
#include "profiler/recorder.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Records, in the group `memory`:
// - kind allocation, from allocation to release, with size_bytes, address, role and live_bytes
//   (after the allocation); finish() ends blocks that are still live
// - counter `live_bytes` at every allocation and release
// - counter `live_bytes_sampled` after every n-th operator, where n is the sample rate: m operators
//   give floor(m / n) samples; n = 0 gives none
// Live bytes and peak are updated even if nothing is recorded. Thread-safe. `recorder` must outlive
// the collector.
class MemoryCollector {
 public:
  MemoryCollector(Recorder& recorder, std::int64_t sample_rate)
      : recorder_(recorder), sample_rate_(sample_rate) {}
  MemoryCollector(const MemoryCollector&) = delete;
  MemoryCollector& operator=(const MemoryCollector&) = delete;

  // Ignores 0 bytes. `role` as in the attribute: "input", "weights", "scratchpad", "cold copy".
  void allocated(const void* address, Bytes size, std::string_view name, std::string_view role);
  void released(const void* address);  // ignored if the address is unknown
  // Call this after an operator was executed. The sample takes its scope from `context`.
  void on_operator_done(Nanoseconds at, const Activity& context);
  void finish();

  // A live block. find() returns nullopt if no live block begins at the address.
  struct LiveBlock {
    std::string name, role;
    Bytes size;
  };
  std::optional<LiveBlock> find(const void* address) const;

  Bytes live() const;
  Bytes peak() const;

 private:
  struct Block {
    std::string name, role;
    Nanoseconds start{0};
    Bytes size;
    Bytes live;  // live bytes after its allocation
  };
  void record_counter(std::string_view name, Nanoseconds at, const Activity& context);
  void record_block(const void* address, const Block& block, Nanoseconds end);

  Recorder& recorder_;
  const std::int64_t sample_rate_;
  mutable std::mutex mutex_;
  std::map<const void*, Block> blocks_;
  Bytes live_{0};
  Bytes peak_{0};
  std::int64_t operators_ = 0;
};

// Registers a block with a collector for the lifetime of this object. Does nothing if the collector
// is null. Another object owns the memory and must outlive this one.
class TrackedAllocation {
 public:
  TrackedAllocation() = default;
  TrackedAllocation(MemoryCollector* collector, const void* address, Bytes size,
                    std::string_view name, std::string_view role);
  TrackedAllocation(TrackedAllocation&& other) noexcept;
  TrackedAllocation& operator=(TrackedAllocation&& other) noexcept;
  ~TrackedAllocation();

 private:
  MemoryCollector* collector_ = nullptr;
  const void* address_ = nullptr;
};

}  // namespace bench
