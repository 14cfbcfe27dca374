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
    buffers_.push_back({tensor.role, tensor.arrangement.packed_size(tensor.dtype), tensor.layout});
  }
}

Status PackedKernel::pack(std::size_t index, const void* plain, void* packed) {
  const DeviceTensor& tensor = tensors_[index];
  const Bytes size = buffers_[index].size;
  std::vector<std::byte> staging(static_cast<std::size_t>(size.count));
  arrange(tensor.arrangement, tensor.dtype, plain, staging.data());
  if (tensor.encode) tensor.encode(staging.data());
  return runtime().copy_in(packed, staging.data(), size);
}

Status PackedKernel::unpack(std::size_t index, const void* packed, void* plain) {
  const DeviceTensor& tensor = tensors_[index];
  const Bytes size = buffers_[index].size;
  std::vector<std::byte> staging(static_cast<std::size_t>(size.count));
  BENCH_RETURN_IF_ERROR(runtime().copy_out(staging.data(), packed, size));
  if (tensor.decode) tensor.decode(staging.data());
  restore(tensor.arrangement, tensor.dtype, staging.data(), plain);
  return Done{};
}

}  // namespace bench::ops::cuda
