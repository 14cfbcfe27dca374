// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/element_functions.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMaxElementwiseBlocks = 8192;
// Up to this count, a position plus a stride of the whole grid fits into 32 bits.
constexpr std::int64_t kNarrowElements = INT64_C(1) << 30;

// Dividing by a 64-bit number is slow, so this uses 32-bit indexes if they suffice.
template <class T, class Index>
__global__ void elementwise_kernel(const __grid_constant__ ElementwisePlan plan,
                                   const __grid_constant__ Addresses tensors) {
  const Index count = static_cast<Index>(plan.elements);
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    compute_element<T>(plan, tensors, i);
  }
}

template <int kRun, class Index>
__global__ void run_kernel(const __grid_constant__ ElementwisePlan plan,
                           const __grid_constant__ Addresses tensors) {
  const Index runs = static_cast<Index>(plan.elements / kRun);
  const Index stride = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < runs; i += stride) {
    compute_run<kRun>(plan, tensors, i);
  }
}

template <int kRun>
void start_runs(cudaStream_t stream, const ElementwisePlan& plan, const Addresses& tensors) {
  const std::int64_t blocks = (plan.elements / kRun + kThreads - 1) / kThreads;
  const unsigned grid = grid_size(blocks, kMaxElementwiseBlocks);
  if (plan.elements <= kNarrowElements) {
    run_kernel<kRun, std::uint32_t><<<grid, kThreads, 0, stream>>>(plan, tensors);
  } else {
    run_kernel<kRun, std::int64_t><<<grid, kThreads, 0, stream>>>(plan, tensors);
  }
}

template <class T>
void start(cudaStream_t stream, const ElementwisePlan& plan, const Addresses& tensors) {
  const std::int64_t blocks = (plan.elements + kThreads - 1) / kThreads;
  const unsigned grid = grid_size(blocks, kMaxElementwiseBlocks);
  if (plan.elements <= kNarrowElements) {
    elementwise_kernel<T, std::uint32_t><<<grid, kThreads, 0, stream>>>(plan, tensors);
  } else {
    elementwise_kernel<T, std::int64_t><<<grid, kThreads, 0, stream>>>(plan, tensors);
  }
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<ElementwisePlan>();
  if (plan.elements == 0) return cudaSuccess;
  if (plan.run == 8) {
    start_runs<8>(stream, plan, tensors);
    return cudaGetLastError();
  }
  if (plan.run == 4) {
    start_runs<4>(stream, plan, tensors);
    return cudaGetLastError();
  }
  return launch_by(plan.precision,
                   [&](auto zero) { start<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel elementwise_device_kernel;
const DeviceKernel elementwise_device_kernel = {ElementwisePlan::kKernel, launch};

}  // namespace bench::ops::cuda
