// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/element_functions.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

// Uses one block per channel and adds the threads' partial sums in a tree, in the same order in
// every run.
template <class T>
__global__ void channel_sum_kernel(const void* source, void* destination,
                                   const __grid_constant__ ChannelSumPlan plan) {
  __shared__ T sums[kThreads];
  const int lane = threadIdx.x;
  for (std::int64_t channel = blockIdx.x; channel < plan.channels; channel += gridDim.x) {
    sums[lane] = sum_channel_part<T>(plan, source, channel, lane, kThreads);
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (lane < half) sums[lane] += sums[lane + half];
      __syncthreads();
    }
    if (lane == 0) store_as<T>(plan.destination_type, destination, channel, sums[0]);
    __syncthreads();  // thread 0 must read sums[0] before the next channel overwrites it
  }
}

template <class T>
void start(cudaStream_t stream, const ChannelSumPlan& plan, const Addresses& tensors) {
  channel_sum_kernel<T><<<grid_size(plan.channels), kThreads, 0, stream>>>(
      tensors.at[plan.source], tensors.at[plan.destination], plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<ChannelSumPlan>();
  if (plan.channels == 0) return cudaSuccess;
  return launch_by(plan.precision,
                   [&](auto zero) { start<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel channel_sum_device_kernel;
const DeviceKernel channel_sum_device_kernel = {ChannelSumPlan::kKernel, launch};

}  // namespace bench::ops::cuda
