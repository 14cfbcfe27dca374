// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/softmax/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

// Uses one block per row. Each thread sums up its part in one pass, a tree merges the parts, and a
// second pass writes.
template <class T>
__global__ void softmax_kernel(const void* source, void* destination, SoftmaxPlan plan) {
  __shared__ T maxima[kThreads];
  __shared__ T sums[kThreads];
  const int lane = threadIdx.x;
  const std::int64_t rows = plan.outer * plan.inner;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t first = row_start(plan, row);
    OnlineSum<T> part = sum_part<T>(plan, source, first, lane, kThreads);
    maxima[lane] = part.maximum;
    sums[lane] = part.sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (lane < half) {
        const OnlineSum<T> other{maxima[lane + half], sums[lane + half]};
        part = merged(part, other);
        maxima[lane] = part.maximum;
        sums[lane] = part.sum;
      }
      __syncthreads();
    }
    const OnlineSum<T> whole{maxima[0], sums[0]};
    write_part<T>(plan, source, destination, first, whole, lane, kThreads);
    __syncthreads();  // the next row overwrites what this one still reads
  }
}

template <class T>
void start(cudaStream_t stream, const SoftmaxPlan& plan, const Addresses& tensors) {
  softmax_kernel<T><<<grid_size(plan.outer * plan.inner), kThreads, 0, stream>>>(
      tensors.at[0], tensors.at[1], plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<SoftmaxPlan>();
  if (plan.outer * plan.inner * plan.size == 0) return cudaSuccess;
  return launch_by(plan.precision,
                   [&](auto zero) { start<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel softmax_device_kernel;
const DeviceKernel softmax_device_kernel = {SoftmaxPlan::kKernel, launch};

}  // namespace bench::ops::cuda
