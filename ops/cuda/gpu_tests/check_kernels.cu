// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/check_kernels.hpp"

namespace bench::ops::cuda {
namespace {

__device__ std::int64_t global_time() {
  std::int64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__global__ void spin_kernel(std::int64_t nanoseconds) {
  const std::int64_t start = global_time();
  while (global_time() - start < nanoseconds) {
  }
}

template <class Value>
__global__ void touch_kernel(Value* target) {
  *target += Value(1);
}

__global__ void copy_kernel(uint4* target, const uint4* source, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    target[i] = source[i];
  }
}

// Computes eight independent chains, so that a multiprocessor need not wait for the result of one.
__global__ void fma_kernel(float* results, float seed) {
  constexpr int kChains = 8;
  float value[kChains];
  for (int chain = 0; chain < kChains; ++chain) value[chain] = seed + threadIdx.x + chain;
    // Unrolled, so that the loop's own instructions use hardly any issue slots.
#pragma unroll 64
  for (int step = 0; step < kFmaChain / kChains; ++step) {
#pragma unroll
    for (int chain = 0; chain < kChains; ++chain) value[chain] = value[chain] * seed + 0.5f;
  }
  float sum = 0;
  for (int chain = 0; chain < kChains; ++chain) sum += value[chain];
  results[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

}  // namespace

cudaError_t launch_spin(cudaStream_t stream, std::int64_t nanoseconds, LaunchShape shape) {
  spin_kernel<<<shape.grid, shape.block, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

cudaError_t launch_touch_float(cudaStream_t stream, float* target) {
  touch_kernel<float><<<1, 1, 0, stream>>>(target);
  return cudaGetLastError();
}

cudaError_t launch_touch_int(cudaStream_t stream, int* target) {
  touch_kernel<int><<<1, 1, 0, stream>>>(target);
  return cudaGetLastError();
}

cudaError_t launch_copy(cudaStream_t stream, void* target, const void* source, std::size_t bytes) {
  copy_kernel<<<4096, 512, 0, stream>>>(static_cast<uint4*>(target),
                                        static_cast<const uint4*>(source), bytes / sizeof(uint4));
  return cudaGetLastError();
}

cudaError_t launch_fma(cudaStream_t stream, float* results, float seed, LaunchShape shape) {
  fma_kernel<<<shape.grid, shape.block, 0, stream>>>(results, seed);
  return cudaGetLastError();
}

}  // namespace bench::ops::cuda
