// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/memory.hpp"

#include "base/text.hpp"
#include "ops/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <utility>

namespace bench {

LargePages allocate_large_pages(Bytes size) {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  const std::size_t count = (static_cast<std::size_t>(size.count) + kPage - 1) / kPage * kPage;
  LargePages memory(static_cast<std::byte*>(std::aligned_alloc(kPage, count)));
  if (memory == nullptr) return memory;
  madvise(memory.get(), count, MADV_HUGEPAGE);  // only a hint: small pages also work
  std::memset(memory.get(), 0, count);
  return memory;
}

namespace {

// Twice the cache size evicts a line before its next use, even if the replacement policy is not
// LRU.
constexpr std::int64_t kCacheFactor = 2;
constexpr Bytes kMaxArena{std::int64_t{1} << 30};
// Used if the cache sizes are unknown: larger than the last level of most machines.
constexpr Bytes kAssumedLastLevel{std::int64_t{64} << 20};

// Size of the random pattern, which is generated once and repeated. Copying is several times as
// fast as generating, and each worker fills an arena.
constexpr Bytes kPatternSize{std::int64_t{4} << 20};

constexpr std::string_view kColdCopy = "cold copy";  // the role of both regions

Error no_arena_memory(Bytes size) {
  return {fmt::format("no memory for an arena of {}: {}", format_bytes(size), std::strerror(errno)),
          "", ""};
}

Result<std::byte*> allocate_region(Bytes size, ops::DeviceMemory* device) {
  if (device != nullptr) {
    BENCH_ASSIGN_OR_RETURN(void* const memory, device->allocate(size));
    return static_cast<std::byte*>(memory);
  }
  void* memory = mmap(nullptr, static_cast<std::size_t>(size.count), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return no_arena_memory(size);
  // Only a hint: small pages also work, but the first write to them takes four times as long.
  madvise(memory, static_cast<std::size_t>(size.count), MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void free_region(std::byte* memory, Bytes size, ops::DeviceMemory* device) {
  if (memory == nullptr) return;
  if (device != nullptr) {
    device->release(memory);
  } else {
    munmap(memory, static_cast<std::size_t>(size.count));
  }
}

Status copy(std::byte* to, const std::byte* from, Bytes size, ops::DeviceMemory* device) {
  if (device != nullptr) return device->copy_in(to, from, size);
  std::memcpy(to, from, static_cast<std::size_t>(size.count));
  return Done{};
}

std::vector<std::uint16_t> generate_pattern(Bytes size, std::uint64_t seed) {
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(size.count) / sizeof(std::uint16_t));
  ops::fill_any_type(numbers.data(), numbers.size(), seed);
  return numbers;
}

}  // namespace

std::optional<AlignedBuffer> AlignedBuffer::create(Bytes size) {
  const std::int64_t bytes = std::max(kCacheLine, round_up(size.count, kCacheLine));
  void* memory = std::aligned_alloc(kCacheLine, static_cast<std::size_t>(bytes));
  if (memory == nullptr) return std::nullopt;
  std::memset(memory, 0, static_cast<std::size_t>(bytes));
  return AlignedBuffer(static_cast<std::byte*>(memory), size);
}

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AlignedBuffer::~AlignedBuffer() { std::free(data_); }

void AlignedBuffer::fill(std::uint8_t value) {
  std::memset(data_, value, static_cast<std::size_t>(size_.count));
}

std::optional<SetLayout> lay_out(std::span<const Bytes> buffers, Bytes region, Bytes distance,
                                 Bytes alignment) {
  SetLayout layout;
  std::int64_t bytes = 0;
  for (const Bytes buffer : buffers) {
    layout.offsets.push_back({bytes});
    bytes += round_up(buffer.count, alignment.count);
  }
  if (bytes > region.count) return std::nullopt;
  const std::int64_t units = std::max<std::int64_t>(bytes / alignment.count, 1);
  layout.stride = {(units % 2 == 0 ? units + 1 : units) * alignment.count};
  const std::int64_t usable = std::min(region.count, distance.count);
  layout.sets = std::clamp<std::int64_t>(usable / layout.stride.count, 1, kMaxSets);
  return layout;
}

Bytes arena_size(std::optional<Bytes> last_level, Bytes requested, std::optional<Bytes> available) {
  const std::int64_t caches = kCacheFactor * last_level.value_or(kAssumedLastLevel).count;
  std::int64_t size = std::min(std::max(caches, requested.count), kMaxArena.count);
  if (available) size = std::min(size, available->count / 2);
  return {round_up(std::max(size, kCacheLine), kCacheLine)};
}

Bytes device_arena_size(ops::DeviceMemory& memory, Bytes requested) {
  return arena_size(memory.cache(), requested, memory.available());
}

Result<Arena> Arena::create(Bytes size, std::uint64_t seed, MemoryCollector* collector,
                            ops::DeviceMemory* memory) {
  BENCH_ASSIGN_OR_RETURN(std::byte* const read, allocate_region(size, memory));
  Arena arena(read, size, collector, memory);
  const std::vector<std::uint16_t> numbers =
      generate_pattern({std::min(size.count, kPatternSize.count)}, seed);
  const auto* pattern = reinterpret_cast<const std::byte*>(numbers.data());
  const auto length = static_cast<std::int64_t>(numbers.size() * sizeof(std::uint16_t));
  for (std::int64_t begin = 0; begin < size.count; begin += length) {
    const Bytes part{std::min(length, size.count - begin)};
    BENCH_RETURN_IF_ERROR(copy(read + begin, pattern, part, memory));
  }
  return arena;
}

Arena::Arena(std::byte* read, Bytes size, MemoryCollector* collector, ops::DeviceMemory* memory)
    : read_(read),
      size_(size),
      memory_(memory),
      collector_(collector),
      tracked_read_(collector, read, size, "arena to read", kColdCopy) {}

Arena::Arena(Arena&& other) noexcept
    : read_(std::exchange(other.read_, nullptr)),
      write_(std::exchange(other.write_, nullptr)),
      size_(other.size_),
      memory_(other.memory_),
      collector_(other.collector_),
      tracked_read_(std::move(other.tracked_read_)),
      tracked_write_(std::move(other.tracked_write_)) {}

Arena::~Arena() {
  tracked_read_ = {};
  tracked_write_ = {};
  free_region(read_, size_, memory_);
  free_region(write_, size_, memory_);
}

Result<std::byte*> Arena::write_region() {
  if (write_ != nullptr) return write_;
  BENCH_ASSIGN_OR_RETURN(write_, allocate_region(size_, memory_));
  tracked_write_ = TrackedAllocation(collector_, write_, size_, "arena to write", kColdCopy);
  // Touched here, because the first write to a page costs kernel time that is not the operator's.
  if (memory_ != nullptr) {
    BENCH_RETURN_IF_ERROR(memory_->fill(write_, 0, size_));
  } else {
    std::memset(write_, 0, static_cast<std::size_t>(size_.count));
  }
  return write_;
}

namespace {

// Gap between two buffers, in addition to the padding of the last line. Without it, buffers of
// multiples of 4 KiB would all begin at the same offset in a page. A load could then falsely alias
// an earlier store.
constexpr std::int64_t kGap = 9 * kCacheLine;

}  // namespace

Result<std::vector<CaseBuffer>> CaseBuffer::create(std::span<const Bytes> sizes,
                                                   ops::DeviceMemory* memory) {
  std::vector<CaseBuffer> buffers;
  if (memory != nullptr) {
    for (const Bytes size : sizes) {
      BENCH_ASSIGN_OR_RETURN(void* const device, memory->allocate(size));
      buffers.push_back(CaseBuffer(device, size));
      buffers.back().memory_ = memory;
    }
    return buffers;
  }
  std::int64_t bytes = kCacheLine;
  for (const Bytes size : sizes) bytes += round_up(size.count, kCacheLine) + kGap;
  const std::shared_ptr<std::byte> block = allocate_large_pages({bytes});
  if (block == nullptr) {
    return Error{fmt::format("no memory for buffers of {}", format_bytes({bytes})), "", ""};
  }
  std::int64_t offset = 0;
  for (const Bytes size : sizes) {
    buffers.push_back(CaseBuffer(block.get() + offset, size));
    buffers.back().block_ = block;
    offset += round_up(size.count, kCacheLine) + kGap;
  }
  return buffers;
}

CaseBuffer::CaseBuffer(CaseBuffer&& other) noexcept
    : data_(other.data_),
      size_(other.size_),
      block_(std::move(other.block_)),
      memory_(std::exchange(other.memory_, nullptr)) {}

CaseBuffer::~CaseBuffer() {
  if (memory_ != nullptr) memory_->release(data_);
}

Status CaseBuffer::fill(std::uint8_t value) {
  if (memory_ != nullptr) return memory_->fill(data_, value, size_);
  std::memset(data_, value, static_cast<std::size_t>(size_.count));
  return Done{};
}

}  // namespace bench
