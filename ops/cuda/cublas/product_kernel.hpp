// SPDX-License-Identifier: Apache-2.0
// The base class of the kernels of cuBLASLt and cuBLAS.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cublas/product_tensors.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

class ProductKernel : public CudaKernel {
 public:
  ProductKernel(const DeviceParts& device, ProductTensors tensors, std::string name)
      : CudaKernel(device.runtime, device.sampler),
        tensors_(std::move(tensors)),
        name_(std::move(name)) {}

  std::string implementation() const final { return name_; }
  std::vector<KernelStep> steps() const final {
    return {{"", "gemm", name_, tensors_.layouts(), {}}};
  }
  std::span<const KernelBuffer> buffers() const final { return tensors_.buffers(); }
  Status pack(std::size_t index, const void* plain, void* packed) final {
    return tensors_.pack(runtime(), index, plain, packed);
  }
  Status unpack(std::size_t index, const void* packed, void* plain) final {
    return tensors_.unpack(runtime(), index, packed, plain);
  }
  Status prepare(std::span<void* const>) final { return Done{}; }
  Result<std::unique_ptr<Invocation>> bind(std::span<void* const> buffers) final {
    BENCH_RETURN_IF_ERROR(check_addresses(buffers, tensors_.buffers().size()));
    return bind_checked({buffers.begin(), buffers.end()});
  }

 protected:
  // Binds addresses that check_addresses() has accepted.
  virtual std::unique_ptr<Invocation> bind_checked(std::vector<void*> addresses) = 0;

 private:
  ProductTensors tensors_;
  std::string name_;
};

}  // namespace bench::ops::cuda
