// SPDX-License-Identifier: Apache-2.0
// The device's version of a row kernel (ops/cuda/kernels/rows.hpp): one block per row. C++17, for
// nvcc.
#pragma once

#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/rows.hpp"

namespace bench::ops::cuda {

constexpr int kRowThreads = 256;

// Merges the states of the lanes in a tree, in the same order in every run.
template <class T, class Plan>
__global__ void row_kernel(Addresses tensors, Plan plan) {
  using State = typename Plan::template State<T>;
  // Shared memory cannot hold objects with constructors.
  __shared__ alignas(State) unsigned char storage[kRowThreads * sizeof(State)];
  State* states = reinterpret_cast<State*>(storage);
  const Access<T> access{tensors, plan.type};
  const int lane = threadIdx.x;
  for (std::int64_t row = blockIdx.x; row < plan.rows(); row += gridDim.x) {
    states[lane] = plan.look(access, row, lane, kRowThreads);
    __syncthreads();
    for (int half = kRowThreads / 2; half > 0; half /= 2) {
      if (lane < half) {
        states[lane] = Plan::merge(states[lane], states[lane + half]);
      }
      __syncthreads();
    }
    const State whole = states[0];
    plan.write(access, row, whole, lane, kRowThreads);
    __syncthreads();  // the next row overwrites the states, which other threads may still read
  }
}

template <class Plan>
cudaError_t launch_rows(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<Plan>();
  if (plan.rows() == 0) return cudaSuccess;
  return launch_by(plan.precision, [&](auto zero) {
    row_kernel<decltype(zero)><<<grid_size(plan.rows()), kRowThreads, 0, stream>>>(tensors, plan);
  });
}

}  // namespace bench::ops::cuda
