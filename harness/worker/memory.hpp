// SPDX-License-Identifier: Apache-2.0
// The memory that a case is measured in.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/device.hpp"
#include "ops/backend/kernel.hpp"
#include "profiler/memory/memory_collector.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Host memory in pages of 2 MiB, if available. Writing it is three times as fast as writing small
// pages, and the same addresses collide in a cache in every process.

struct FreeLargePages {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using LargePages = std::unique_ptr<std::byte, FreeLargePages>;

// Returns at least `size` zero bytes, aligned to 2 MiB and written once from end to end. Returns
// null if there is no such memory.
LargePages allocate_large_pages(Bytes size);

// Memory of a worker: aligned buffers, and the arena over which cases with cold caches rotate.

// Aligned to a cache line and filled with zeros at creation; owns its memory.
class AlignedBuffer {
 public:
  // Returns nullopt if there is not enough memory. Size 0 allocates one line, so that data() is
  // never null.
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

// Alignment of buffers in a region. On the host: a cache line. On a device, which fetches rows in
// pieces of 128 bytes: the alignment of its allocator.
inline constexpr Bytes kHostUnit{kCacheLine};
inline constexpr Bytes kDeviceUnit{256};

// How many sets of buffers a region holds, and where: set i begins at i * stride, and its buffer j
// follows at offsets[j]. All are multiples of the unit. The stride is an odd number of units, so
// that neighbouring sets begin at different places of a page.
struct SetLayout {
  std::int64_t sets = 1;
  Bytes stride{0};
  std::vector<Bytes> offsets;
};
// Lays out as many sets as `distance` bytes of the region hold, at least 1 and at most kMaxSets.
// Returns nullopt if not even one set fits the region.
std::optional<SetLayout> lay_out(std::span<const Bytes> buffers, Bytes region, Bytes distance,
                                 Bytes unit = kHostUnit);

// Binding a kernel to a set takes some microseconds. With more sets, small operators would spend
// more time in setup than in timed iterations.
inline constexpr std::int64_t kMaxSets = 8192;

// The arena size of a worker: the requested size (a layer's reuse distance), at least twice the
// last-level cache, at most 1 GiB and half the available memory.
Bytes arena_size(std::optional<Bytes> last_level, Bytes asked, std::optional<Bytes> available);

// The same for device memory; `memory` knows the device's caches and free memory.
Bytes device_arena_size(ops::DeviceMemory& memory, Bytes asked);

// Seed for Arena::create. The content must not depend on the case, because all cases share it.
inline constexpr std::uint64_t kArenaSeed = 1;

// Two regions of equal size in host or device memory. One is filled once with numbers of every data
// type and never written again. The other is for outputs and is created on first use.
class Arena {
 public:
  // Reports its memory to `collector`, if not null, as long as it lives. `memory`: device memory,
  // which outlives the arena; null means host memory.
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

// A kernel's buffers in the memory that its backend uses: of the host or of a device.

class CaseBuffer {
 public:
  // `memory`: the backend's memory, which outlives the buffers; null means host memory. Returns an
  // error if the memory is exhausted. On the host the buffers are consecutive in one block, of
  // pages of 2 MiB if available. The same addresses then collide in a cache in every process.
  static Result<std::vector<CaseBuffer>> create(std::span<const Bytes> sizes,
                                                ops::DeviceMemory* memory);
  CaseBuffer(CaseBuffer&& other) noexcept;
  CaseBuffer& operator=(CaseBuffer&&) = delete;
  ~CaseBuffer();

  void* data() { return data_; }
  Status fill(std::uint8_t value);

 private:
  CaseBuffer(void* data, Bytes size) : data_(data), size_(size) {}

  void* data_;
  Bytes size_;
  std::shared_ptr<std::byte> block_;     // the host memory that contains the buffer
  ops::DeviceMemory* memory_ = nullptr;  // to which the buffer is returned
};

}  // namespace bench
