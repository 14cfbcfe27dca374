// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/layer_norm/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

// Adds the threads' parts in a tree, in the same order in every run. Every thread gets the sum.
template <class T>
__device__ T sum_of_block(T part, T* parts) {
  const int lane = threadIdx.x;
  parts[lane] = part;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (lane < half) parts[lane] += parts[lane + half];
    __syncthreads();
  }
  const T sum = parts[0];
  __syncthreads();  // the next sum overwrites what this one still reads
  return sum;
}

// Uses one block per group, with one pass per sum and one that writes.
template <class T>
__global__ void layer_norm_kernel(Addresses tensors, LayerNormPlan plan) {
  __shared__ T parts[kThreads];
  const int lane = threadIdx.x;
  for (std::int64_t group = blockIdx.x; group < plan.groups; group += gridDim.x) {
    const std::int64_t first = group * plan.size;
    const T sum = sum_of_block(part_of_sum<T>(plan, tensors.at[0], first, lane, kThreads), parts);
    const T mean = sum / static_cast<T>(plan.size);
    const T squares =
        sum_of_block(part_of_squares<T>(plan, tensors.at[0], first, mean, lane, kThreads), parts);
    write_normalised<T>(plan, tensors, first, mean, squares, lane, kThreads);
  }
}

template <class T>
void start(cudaStream_t stream, const LayerNormPlan& plan, const Addresses& tensors) {
  layer_norm_kernel<T><<<grid_size(plan.groups), kThreads, 0, stream>>>(tensors, plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<LayerNormPlan>();
  if (plan.groups * plan.size == 0) return cudaSuccess;
  return launch_by(plan.precision,
                   [&](auto zero) { start<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel layer_norm_device_kernel;
const DeviceKernel layer_norm_device_kernel = {LayerNormPlan::kKernel, launch};

}  // namespace bench::ops::cuda
