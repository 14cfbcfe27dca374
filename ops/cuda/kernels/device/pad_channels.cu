// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/transpose_functions.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kPadThreads = 256;

// One thread writes one padded pixel, so that the threads of a warp write contiguous memory.
template <class Packed>
__global__ void pad_channels_kernel(const typename Packed::Stored* source,
                                    typename Packed::Stored* destination, PadPlan plan) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t pixel = first; pixel < plan.pixels; pixel += stride) {
    pad_pixel<Packed>(plan, source, destination, pixel);
  }
}

template <class Packed>
void start_padding(cudaStream_t stream, const PadPlan& plan, const Addresses& tensors) {
  using Word = typename Packed::Stored;
  const std::int64_t blocks = (plan.pixels + kPadThreads - 1) / kPadThreads;
  pad_channels_kernel<Packed><<<grid_size(blocks), kPadThreads, 0, stream>>>(
      static_cast<const Word*>(tensors.at[0]), static_cast<Word*>(tensors.at[1]), plan);
}

cudaError_t launch_padding(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<PadPlan>();
  if (plan.pixels * plan.padded == 0) return cudaSuccess;
  const bool started = run_by_packed_channels(plan.bytes, plan.padded, [&](auto packed) {
    start_padding<decltype(packed)>(stream, plan, tensors);
  });
  return started ? cudaGetLastError() : cudaErrorInvalidValue;
}

}  // namespace

extern const DeviceKernel pad_channels_device_kernel;
const DeviceKernel pad_channels_device_kernel = {PadPlan::kKernel, launch_padding};

}  // namespace bench::ops::cuda
