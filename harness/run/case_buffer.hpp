// SPDX-License-Identifier: Apache-2.0
// A kernel's buffer where its backend wants it: in memory of the host, or of a device.
#pragma once

#include "base/result.hpp"
#include "harness/run/arena.hpp"
#include "ops/kernel.hpp"

#include <cstdint>
#include <optional>

namespace bench {

class CaseBuffer {
 public:
  // `memory`: the backend's, which outlives the buffer; null: the host's. Error: there is none
  // left.
  static Result<CaseBuffer> create(Bytes size, ops::DeviceMemory* memory);
  CaseBuffer(CaseBuffer&& other) noexcept;
  CaseBuffer& operator=(CaseBuffer&&) = delete;
  ~CaseBuffer();

  void* data() { return host_ ? static_cast<void*>(host_->data()) : device_; }
  Status fill(std::uint8_t value);

 private:
  explicit CaseBuffer(Bytes size) : size_(size) {}

  Bytes size_;
  std::optional<AlignedBuffer> host_;
  ops::DeviceMemory* memory_ = nullptr;
  void* device_ = nullptr;
};

}  // namespace bench
