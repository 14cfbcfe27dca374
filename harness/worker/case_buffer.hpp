// SPDX-License-Identifier: Apache-2.0
// A kernel's buffers in the memory that its backend uses: of the host or of a device.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bench {

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
