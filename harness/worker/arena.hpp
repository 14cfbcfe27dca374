// SPDX-License-Identifier: Apache-2.0
// Memory of a worker: aligned buffers, and the arena that cases with cold caches rotate over.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "profiler/memory/memory_collector.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Line-aligned, zero-filled at creation; owns its memory.
class AlignedBuffer {
 public:
  // Absent when there is no memory. Of size 0: one line, so that data() is never null.
  static std::optional<AlignedBuffer> create(Bytes size);
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  ~AlignedBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  Bytes size() const { return size_; }
  void fill(std::uint8_t value);

 private:
  AlignedBuffer(std::byte* data, Bytes size) : data_(data), size_(size) {}
  std::byte* data_ = nullptr;
  Bytes size_;
};

// Where buffers of a region may begin: at lines of the host's caches; on a device, where rows are
// fetched in pieces of 128 bytes, at what its allocator aligns to.
inline constexpr Bytes kHostUnit{kCacheLine};
inline constexpr Bytes kDeviceUnit{256};

// How many sets of buffers a region holds, and where: set i begins at i * stride, its buffer j at
// offsets[j] behind that. All multiples of the unit; the stride is an odd number of units, so that
// neighbouring sets begin at different places of a page.
struct SetLayout {
  std::int64_t sets = 1;
  Bytes stride{0};
  std::vector<Bytes> offsets;
};
// As many sets as `distance` bytes of the region make, at least 1 and at most kMaxSets; absent
// when not even one set fits the region.
std::optional<SetLayout> lay_out(std::span<const Bytes> buffers, Bytes region, Bytes distance,
                                 Bytes unit = kHostUnit);

// Binding a kernel to a set takes some microseconds: beyond this, small operators would spend more
// time in setup than in timed iterations.
inline constexpr std::int64_t kMaxSets = 8192;

// The size for a worker: what is asked for (a layer's reuse distance), at least twice the last
// level of the caches, at most 1 GiB and half the available memory.
Bytes arena_size(std::optional<Bytes> last_level, Bytes asked, std::optional<Bytes> available);

// The same for memory of a device, whose caches and free memory that knows.
Bytes device_arena_size(ops::DeviceMemory& memory, Bytes asked);

// Of Arena::create: the content must not depend on the case, as all cases share it.
inline constexpr std::uint64_t kArenaSeed = 1;

// Two regions of equal size: one filled once with numbers of every data type and never written
// again, one for outputs, made when first asked for. In memory of the host or of a device.
class Arena {
 public:
  // Told to `collector`, where there is one, as long as it lives. `memory`: the device's, which
  // outlives it; null: the host's.
  static Result<Arena> create(Bytes size, std::uint64_t seed, MemoryCollector* collector = nullptr,
                              ops::DeviceMemory* memory = nullptr);
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();

  Bytes size() const { return size_; }
  const ops::DeviceMemory* memory() const { return memory_; }
  Bytes unit() const { return memory_ == nullptr ? kHostUnit : kDeviceUnit; }
  std::byte* read_region() { return read_; }
  Result<std::byte*> write_region();

 private:
  Arena(std::byte* read, Bytes size, MemoryCollector* collector, ops::DeviceMemory* memory);
  std::byte* read_ = nullptr;
  std::byte* write_ = nullptr;
  Bytes size_;
  ops::DeviceMemory* memory_ = nullptr;
  MemoryCollector* collector_ = nullptr;
  TrackedAllocation tracked_read_, tracked_write_;
};

}  // namespace bench
