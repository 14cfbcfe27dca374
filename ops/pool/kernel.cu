// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/pool/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

template <class Window, class T, class Index, class Access>
__global__ void pool_kernel(PoolPlan plan, Access access, Addresses tensors, Index count) {
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    pool_position<Window, T>(plan, access, tensors, i);
  }
}

template <class T, class Index, class Access>
void start(cudaStream_t stream, const PoolPlan& plan, const Access& access,
           const Addresses& tensors) {
  const std::int64_t count = count_positions(plan);
  const unsigned grid = grid_size((count + kThreads - 1) / kThreads);
  const auto narrow = static_cast<Index>(count);
  if (plan.pooling == Pooling::max) {
    pool_kernel<MaxOfWindow, T><<<grid, kThreads, 0, stream>>>(plan, access, tensors, narrow);
  } else {
    pool_kernel<SumOfWindow, T><<<grid, kThreads, 0, stream>>>(plan, access, tensors, narrow);
  }
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<PoolPlan>();
  if (count_positions(plan) == 0) return cudaSuccess;
  if (plan.lanes > 1) {
    run_by_chunk(plan.type, [&](const auto& access) {
      start<float, std::uint32_t>(stream, plan, access, tensors);
    });
    return cudaGetLastError();
  }
  return launch_by(plan.precision, [&](auto zero) {
    using Value = decltype(zero);
    start<Value, std::int64_t>(stream, plan, ScalarAccess<Value>{plan.type}, tensors);
  });
}

}  // namespace

extern const DeviceKernel pool_device_kernel;
const DeviceKernel pool_device_kernel = {PoolPlan::kKernel, launch};

}  // namespace bench::ops::cuda
