// SPDX-License-Identifier: Apache-2.0
// The base class of CUDA kernels that store each tensor in an arrangement of their own.
#pragma once

#include "ops/backend/buffer_role.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct DeviceTensor {
  BufferRole role = BufferRole::input;
  DataType dtype = DataType::f32;
  Arrangement arrangement;
  std::string layout;  // human-readable
  // Convert the packed values in place to the stored form (encode) and back (decode). If empty, the
  // packed values are stored unchanged.
  std::function<void(void*packed)> encode = {}, decode = {};
  // The type of the stored values if it is not `dtype`. It represents the tensor's values.
  std::optional<DataType> stored = std::nullopt;

  DataType stored_type() const { return stored.value_or(dtype); }
};

// Formats the layouts of inputs and outputs, then of weights: "nhwc -> nhwc, weights nhwc".
std::string format_layouts(std::span<const KernelBuffer> buffers);

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
