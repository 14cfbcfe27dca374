// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/case_buffer.hpp"

#include "base/text.hpp"
#include "harness/worker/large_pages.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace bench {
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
