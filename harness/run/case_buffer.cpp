// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_buffer.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

Result<CaseBuffer> CaseBuffer::create(Bytes size, ops::DeviceMemory* memory) {
  CaseBuffer buffer(size);
  if (memory != nullptr) {
    BENCH_ASSIGN_OR_RETURN(buffer.device_, memory->allocate(size));
    buffer.memory_ = memory;
    return buffer;
  }
  buffer.host_ = AlignedBuffer::create(size);
  if (buffer.host_) return buffer;
  return Error{fmt::format("no memory for a buffer of {}", format_bytes(size)), "", ""};
}

CaseBuffer::CaseBuffer(CaseBuffer&& other) noexcept
    : size_(other.size_),
      host_(std::move(other.host_)),
      memory_(std::exchange(other.memory_, nullptr)),
      device_(std::exchange(other.device_, nullptr)) {}

CaseBuffer::~CaseBuffer() {
  if (memory_ != nullptr) memory_->release(device_);
}

Status CaseBuffer::fill(std::uint8_t value) {
  if (memory_ != nullptr) return memory_->fill(device_, value, size_);
  host_->fill(value);
  return Done{};
}

}  // namespace bench
