// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/runtime.hpp"

#include "ops/cuda/runtime/allocation_log.hpp"

namespace bench::ops::cuda {

Result<void*, BackendError> Runtime::take(Bytes size, std::string_view role) {
  BENCH_ASSIGN_OR_RETURN(void* address, allocate(size));
  if (log_) log_->record_allocation(address, size, role, now());
  return address;
}

Result<DeviceBuffer, BackendError> DeviceBuffer::create(Runtime& runtime, Bytes size,
                                                        std::string_view role) {
  if (size.count == 0) return DeviceBuffer(runtime, nullptr, size);
  BENCH_ASSIGN_OR_RETURN(void* address, runtime.take(size, role));
  return DeviceBuffer(runtime, address, size);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : runtime_(other.runtime_),
      address_(std::exchange(other.address_, nullptr)),
      size_(other.size_) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != nullptr) runtime_->release(address_);
}

}  // namespace bench::ops::cuda
