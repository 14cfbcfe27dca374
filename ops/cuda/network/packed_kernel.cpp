// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/network/packed_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace bench::ops::cuda {

std::string format_layouts(std::span<const KernelBuffer> buffers) {
  const auto join_layouts = [&](BufferRole role) {
    std::vector<std::string> layouts;
    for (const KernelBuffer& buffer : buffers) {
      const bool is_listed = std::ranges::find(layouts, buffer.layout) != layouts.end();
      if (buffer.role == role && !is_listed) layouts.push_back(buffer.layout);
    }
    return fmt::format("{}", fmt::join(layouts, "/"));
  };
  std::string text = join_layouts(BufferRole::input) + " -> " + join_layouts(BufferRole::output);
  if (const std::string weights = join_layouts(BufferRole::weights); !weights.empty()) {
    text += ", weights " + weights;
  }
  return text;
}

PackedKernel::PackedKernel(DeviceParts parts, std::vector<DeviceTensor> tensors)
    : CudaKernel(std::move(parts.runtime), std::move(parts.sampler)), tensors_(std::move(tensors)) {
  for (const DeviceTensor& tensor : tensors_) {
    buffers_.push_back(
        {tensor.role, tensor.arrangement.packed_size(tensor.stored_type()), tensor.layout});
  }
}

namespace {

using PackedBytes = std::vector<std::byte>;

PackedBytes make_packed_bytes(const DeviceTensor& tensor, DataType dtype) {
  return PackedBytes(static_cast<std::size_t>(tensor.arrangement.packed_size(dtype).count));
}

// Converts all packed values of a tensor from one type to another.
PackedBytes convert(const DeviceTensor& tensor, PackedBytes values, DataType from, DataType to) {
  if (from == to) return values;
  PackedBytes converted = make_packed_bytes(tensor, to);
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.arrangement.packed_elements); ++i) {
    store_element(to, converted.data(), i, load_element(from, values.data(), i));
  }
  return converted;
}

}  // namespace

Status PackedKernel::pack(std::size_t index, const void* plain, void* packed) {
  const DeviceTensor& tensor = tensors_[index];
  PackedBytes staging = make_packed_bytes(tensor, tensor.dtype);
  arrange(tensor.arrangement, tensor.dtype, plain, staging.data());
  if (tensor.encode) tensor.encode(staging.data());
  staging = convert(tensor, std::move(staging), tensor.dtype, tensor.stored_type());
  return runtime().copy_in(packed, staging.data(), buffers_[index].size);
}

Status PackedKernel::unpack(std::size_t index, const void* packed, void* plain) {
  const DeviceTensor& tensor = tensors_[index];
  PackedBytes staging = make_packed_bytes(tensor, tensor.stored_type());
  BENCH_RETURN_IF_ERROR(runtime().copy_out(staging.data(), packed, buffers_[index].size));
  staging = convert(tensor, std::move(staging), tensor.stored_type(), tensor.dtype);
  if (tensor.decode) tensor.decode(staging.data());
  restore(tensor.arrangement, tensor.dtype, staging.data(), plain);
  return Done{};
}

}  // namespace bench::ops::cuda
