// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/layer_norm/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreadsPerBlock = 256;

// Adds the threads' partial sums in a tree, in the same order in every run. Every thread gets the
// sum.
template <class T>
__device__ T sum_block(T partial_sum, T* partial_sums) {
  const int lane = threadIdx.x;
  partial_sums[lane] = partial_sum;
  __syncthreads();
  for (int half = kThreadsPerBlock / 2; half > 0; half /= 2) {
    if (lane < half) partial_sums[lane] += partial_sums[lane + half];
    __syncthreads();
  }
  const T sum = partial_sums[0];
  __syncthreads();  // the next sum overwrites partial_sums[0], which other threads may still read
  return sum;
}

// Uses one block per group, with one pass per sum and one that writes.
template <class T>
__global__ void layer_norm_kernel(Addresses tensors, LayerNormPlan plan) {
  __shared__ T partial_sums[kThreadsPerBlock];
  const int lane = threadIdx.x;
  for (std::int64_t group = blockIdx.x; group < plan.groups; group += gridDim.x) {
    const std::int64_t first = group * plan.size;
    const T sum =
        sum_block(part_of_sum<T>(plan, tensors.at[0], first, lane, kThreadsPerBlock), partial_sums);
    const T mean = sum / static_cast<T>(plan.size);
    const T squares = sum_block(
        part_of_squares<T>(plan, tensors.at[0], first, mean, lane, kThreadsPerBlock), partial_sums);
    write_normalised<T>(plan, tensors, first, mean, squares, lane, kThreadsPerBlock);
  }
}

template <class T>
void launch_kernel(cudaStream_t stream, const LayerNormPlan& plan, const Addresses& tensors) {
  layer_norm_kernel<T><<<grid_size(plan.groups), kThreadsPerBlock, 0, stream>>>(tensors, plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<LayerNormPlan>();
  if (plan.groups * plan.size == 0) return cudaSuccess;
  return launch_by(plan.precision,
                   [&](auto zero) { launch_kernel<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel layer_norm_device_kernel;
const DeviceKernel layer_norm_device_kernel = {LayerNormPlan::kKernel, launch};

}  // namespace bench::ops::cuda
