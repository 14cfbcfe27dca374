// SPDX-License-Identifier: Apache-2.0
// What kernels on a CUDA device have in common that hold each tensor in an arrangement of their
// own.
#pragma once

#include "ops/backend/buffer_role.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct DeviceTensor {
  BufferRole role = BufferRole::input;
  DataType dtype = DataType::f32;
  Arrangement arrangement;
  std::string layout;  // for people
  // What is stored in the place of the packed values, and back; empty: they themselves.
  std::function<void(void*packed)> encode = {}, decode = {};
};

// "nhwc -> nhwc, weights nhwc": activations, then what is constant.
std::string layouts_text(std::span<const KernelBuffer> buffers);

class PackedKernel : public CudaKernel {
 public:
  PackedKernel(DeviceParts parts, std::vector<DeviceTensor> tensors);
  std::span<const KernelBuffer> buffers() const final { return buffers_; }
  Status pack(std::size_t index, const void* plain, void* packed) final;
  Status unpack(std::size_t index, const void* packed, void* plain) final;
  Status prepare(std::span<void* const> buffers) override {
    static_cast<void>(buffers);
    return Done{};
  }

 private:
  std::vector<DeviceTensor> tensors_;
  std::vector<KernelBuffer> buffers_;
};

}  // namespace bench::ops::cuda
