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

// Host memory that is aligned to a cache line and filled with zeros at creation. Owns its memory.
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

// Alignment of buffers in a region. On the host it is a cache line. On a device it is the alignment
// of the device's allocator, a multiple of the 128 bytes that the device fetches at once.
inline constexpr Bytes kHostAlignment{kCacheLine};
inline constexpr Bytes kDeviceAlignment{256};

// The positions of sets of buffers in a region: set i begins at i * stride, and buffer j of a set
// begins offsets[j] after the set. All are multiples of the alignment. The stride is an odd
// multiple of it, so that neighbouring sets begin at different offsets in a page.
struct SetLayout {
  std::int64_t sets = 1;
  Bytes stride{0};
  std::vector<Bytes> offsets;
};
// Lays out as many sets as fit into `distance` bytes of the region, at least 1 and at most
// kMaxSets. Returns nullopt if the region is too small for one set.
std::optional<SetLayout> lay_out(std::span<const Bytes> buffers, Bytes region, Bytes distance,
                                 Bytes alignment = kHostAlignment);

// Maximum number of sets. Binding a kernel to a set takes some microseconds. With more sets, small
// operators would spend more time in setup than in timed iterations.
inline constexpr std::int64_t kMaxSets = 8192;

// Returns the arena size of a worker: the requested size (a layer's reuse distance), at least twice
// the last-level cache, at most 1 GiB and half the available memory.
Bytes arena_size(std::optional<Bytes> last_level, Bytes requested, std::optional<Bytes> available);

// Like arena_size(), with the last-level cache and the available memory of a device.
Bytes device_arena_size(ops::DeviceMemory& memory, Bytes requested);

// Seed for Arena::create. The content must not depend on the case, because all cases share it.
inline constexpr std::uint64_t kArenaSeed = 1;

// Two regions of equal size in host or device memory. The read region is filled once with a pattern
// that is a valid number in every data type, and never written again. The write region is for
// outputs and is created on first use.
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
  Bytes alignment() const { return memory_ == nullptr ? kHostAlignment : kDeviceAlignment; }
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

// One buffer of a kernel, in the memory that its backend uses: host memory or device memory.
class CaseBuffer {
 public:
  // Creates one buffer per size. `memory`: the backend's memory, which outlives the buffers; null
  // means host memory. Returns an error if the memory is exhausted. On the host the buffers are
  // consecutive in one block, which consists of 2 MiB pages if available. The same addresses then
  // collide in a cache in every process.
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
  ops::DeviceMemory* memory_ = nullptr;  // releases the buffer; null: the buffer is in block_
};

}  // namespace bench
