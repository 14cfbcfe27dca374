// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/softmax/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreads = 256;

// Computes the softmax with one block per row. Each thread sums up its terms in one pass, a tree
// merges the sums, and a second pass writes the results.
template <class T>
__global__ void softmax_kernel(const void* source, void* destination, SoftmaxPlan plan) {
  __shared__ T maxima[kThreads];
  __shared__ T sums[kThreads];
  const int lane = threadIdx.x;
  const std::int64_t rows = plan.outer * plan.inner;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const std::int64_t first = find_row_start(plan, row);
    OnlineSum<T> part = compute_partial_sum<T>(plan, source, first, lane, kThreads);
    maxima[lane] = part.maximum;
    sums[lane] = part.sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
      if (lane < half) {
        const OnlineSum<T> other{maxima[lane + half], sums[lane + half]};
        part = merge_sums(part, other);
        maxima[lane] = part.maximum;
        sums[lane] = part.sum;
      }
      __syncthreads();
    }
    const OnlineSum<T> whole{maxima[0], sums[0]};
    write_results<T>(plan, source, destination, first, whole, lane, kThreads);
    __syncthreads();  // the next row overwrites maxima and sums, which other threads may still read
  }
}

template <class T>
void start_kernel(cudaStream_t stream, const SoftmaxPlan& plan, const Addresses& tensors) {
  softmax_kernel<T><<<grid_size(plan.outer * plan.inner), kThreads, 0, stream>>>(
      tensors.at[0], tensors.at[1], plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<SoftmaxPlan>();
  if (plan.outer * plan.inner * plan.size == 0) return cudaSuccess;
  return launch_by(plan.precision,
                   [&](auto zero) { start_kernel<decltype(zero)>(stream, plan, tensors); });
}

}  // namespace

extern const DeviceKernel softmax_device_kernel;
const DeviceKernel softmax_device_kernel = {SoftmaxPlan::kKernel, launch};

}  // namespace bench::ops::cuda
