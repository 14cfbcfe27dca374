// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/cuda_native.hpp"
#include "ops/attention/cuda_native_gradient.hpp"
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 128;

template <class T>
__global__ void attention_kernel(const __grid_constant__ Addresses tensors,
                                 const __grid_constant__ AttentionPlan plan) {
  using Block = AttentionBlock<T, kThreads>;
  __shared__ typename Block::Shared shared;
  const int lane = threadIdx.x;
  const Access<T> access{tensors, plan.type};
  for (std::int64_t i = blockIdx.x; i < Block::blocks(plan); i += gridDim.x) {
    const Block block = Block::at(plan, access, i);
    typename Block::Lane state;
    block.begin(state);
    const KeyRange keys = block.keys();
    for (std::int64_t tile = keys.begin; tile < keys.end; tile += kThreads) {
      block.score(shared, tile, lane);
      __syncthreads();
      block.weigh(shared, state, lane);
      __syncthreads();
      block.accumulate(shared, state, tile, keys.end, lane);
      __syncthreads();  // the next tile overwrites the weights, which other threads may still read
    }
    block.write(state, lane);
  }
}

template <class T>
__global__ void attention_gradient_kernel(const __grid_constant__ Addresses tensors,
                                          const __grid_constant__ AttentionPlan plan) {
  using Block = AttentionGradientBlock<T, kThreads>;
  __shared__ typename Block::Shared shared;
  const int lane = threadIdx.x;
  const Access<T> access{tensors, plan.type};
  for (std::int64_t i = blockIdx.x; i < Block::blocks(plan); i += gridDim.x) {
    const Block block = Block::at(plan, access, i);
    typename Block::Lane state;
    const KeyRange partners = block.partners();
    for (std::int64_t tile = partners.begin; tile < partners.end; tile += kThreads) {
      block.weigh(shared, tile, partners.end, lane);
      __syncthreads();
      block.accumulate(shared, state, tile, partners.end, lane);
      __syncthreads();  // the next tile overwrites the weights, which other threads may still read
    }
    block.write(state, lane);
  }
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<AttentionPlan>();
  return launch_by(plan.precision, [&](auto zero) {
    using T = decltype(zero);
    if (plan.is_gradient) {
      const std::int64_t blocks = AttentionGradientBlock<T, kThreads>::blocks(plan);
      attention_gradient_kernel<T><<<grid_size(blocks), kThreads, 0, stream>>>(tensors, plan);
    } else {
      const std::int64_t blocks = AttentionBlock<T, kThreads>::blocks(plan);
      attention_kernel<T><<<grid_size(blocks), kThreads, 0, stream>>>(tensors, plan);
    }
  });
}

}  // namespace

extern const DeviceKernel attention_device_kernel;
const DeviceKernel attention_device_kernel = {AttentionPlan::kKernel, launch};

}  // namespace bench::ops::cuda
