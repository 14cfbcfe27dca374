// SPDX-License-Identifier: Apache-2.0
// A kernel's buffers where its backend wants them: in memory of the host, or of a device.
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
  // `memory`: the backend's, which outlives the buffers; null: the host's. Error: there is none
  // left. On the host they lie one behind the other in one block, of pages of 2 MiB where the
  // machine gives them: which addresses collide in a cache is then the same in every process.
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
  std::shared_ptr<std::byte> block_;     // of the host, in which it lies
  ops::DeviceMemory* memory_ = nullptr;  // that it is given back to
};

}  // namespace bench
