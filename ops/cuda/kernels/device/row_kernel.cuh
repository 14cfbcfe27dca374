// SPDX-License-Identifier: Apache-2.0
// The device's version of a row kernel (ops/cuda/kernels/rows.hpp). C++17, for nvcc.
#pragma once

#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/rows.hpp"

#include <cstring>
#include <type_traits>

namespace bench::ops::cuda {

constexpr int kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kMaxRowThreads = 1024;

// Return a word of the lane `distance` further in the warp, or of lane 0.
struct ShuffleDown {
  int distance;
  __device__ unsigned operator()(unsigned word) const {
    return __shfl_down_sync(kAllLanes, word, distance);
  }
};
struct ShuffleFirst {
  __device__ unsigned operator()(unsigned word) const { return __shfl_sync(kAllLanes, word, 0); }
};
// Returns the state of the lane that `shuffle` reads.
template <class State, class Shuffle>
__device__ State shuffled(const State& state, const Shuffle& shuffle) {
  constexpr int kWords = (sizeof(State) + sizeof(unsigned) - 1) / sizeof(unsigned);
  unsigned words[kWords] = {};
  memcpy(words, &state, sizeof(State));
  BENCH_UNROLL
  for (int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  State result;
  memcpy(&result, words, sizeof(State));
  return result;
}

// Merges the states of the first `count` lanes of a warp, a power of 2. Lane 0 has the result.
template <class Plan, class State>
__device__ State merge_warp(State state, int count) {
  for (int distance = count / 2; distance > 0; distance /= 2) {
    state = Plan::merge(state, shuffled(state, ShuffleDown{distance}));
  }
  return state;
}

// Merges the states of all lanes of a row in a tree, in the same order in every run. `lanes`, a
// power of 2 and at least a warp, is the number of lanes of a row. All threads of a block take
// part.
template <class Plan, class State>
__device__ State merge_row(State state, int lanes) {
  if constexpr (std::is_empty<State>::value) return state;
  state = merge_warp<Plan>(state, kWarp);
  if (lanes > kWarp) {
    // Shared memory cannot hold objects with constructors.
    __shared__ alignas(State) unsigned char storage[kMaxRowThreads / kWarp * sizeof(State)];
    State* states = reinterpret_cast<State*>(storage);
    const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = lanes / kWarp;
    __syncthreads();  // states of the row before may still be read
    if (lane == 0) states[warp] = state;
    __syncthreads();
    state = merge_warp<Plan>(states[warp / warps * warps + lane % warps], warps);
  }
  return shuffled(state, ShuffleFirst());
}

// The most threads of a block, so that a thread has registers for its state.
template <class State>
constexpr int max_row_threads() {
  return sizeof(State) > 32 ? 256 : kMaxRowThreads;
}

// Computes all rows, with `lanes` threads for each row and as many rows at once as a block has
// threads for.
template <class A, class Plan>
__device__ void compute_rows(const A& access, const Plan& plan, int lanes) {
  const int lane = threadIdx.x % lanes, rows_at_once = blockDim.x / lanes;
  const std::int64_t rows = plan.rows();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * rows_at_once;
  // All threads make the same number of steps, because they merge together.
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * rows_at_once; first < rows;
       first += stride) {
    const std::int64_t own = first + threadIdx.x / lanes;
    const std::int64_t row = own < rows ? own : rows - 1;
    const auto whole = merge_row<Plan>(plan.look(access, row, lane, lanes), lanes);
    if (own < rows) plan.write(access, row, whole, lane, lanes);
  }
}

// The parameters stay in constant memory.
template <Element kType, int kMaxThreads, class Plan>
__global__ void __launch_bounds__(kMaxThreads)
    row_kernel(const __grid_constant__ Addresses tensors, const __grid_constant__ Plan plan,
               int lanes) {
  compute_rows(DeviceAccess<kType>{tensors}, plan, lanes);
}
// The same for an element type that is known when the kernel runs.
template <class T, class Plan>
__global__ void any_row_kernel(const __grid_constant__ Addresses tensors,
                               const __grid_constant__ Plan plan, int lanes) {
  compute_rows(Access<T, const Addresses&>{tensors, plan.type}, plan, lanes);
}

struct RowGrid {
  int lanes;
  int threads;
  unsigned blocks;
};
// Each lane has about four elements, or sixteen if the rows fill the largest device without that.
inline RowGrid row_grid(std::int64_t rows, std::int64_t size, int max_threads) {
  constexpr std::int64_t kManyElements = 4 << 20;
  constexpr int kMinThreads = 128;
  const std::int64_t elements = rows > kManyElements / (size > 0 ? size : 1) ? 16 : 4;
  RowGrid grid{kWarp, kMinThreads, 0};
  while (grid.lanes < max_threads && grid.lanes * elements < size) grid.lanes *= 2;
  if (grid.threads < grid.lanes) grid.threads = grid.lanes;
  const std::int64_t rows_at_once = grid.threads / grid.lanes;
  grid.blocks = grid_size((rows + rows_at_once - 1) / rows_at_once);
  return grid;
}

// For plans of floating-point types.
template <class Plan>
cudaError_t launch_rows(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<Plan>();
  if (plan.rows() == 0) return cudaSuccess;
  return launch_by_type(plan.type, [&](auto type) {
    constexpr Element kType = decltype(type)::value;
    using State = typename Plan::template State<typename DeviceAccess<kType>::Value>;
    constexpr int kMaxThreads = max_row_threads<State>();
    const RowGrid grid = row_grid(plan.rows(), plan.row_size(), kMaxThreads);
    row_kernel<kType, kMaxThreads>
        <<<grid.blocks, grid.threads, 0, stream>>>(tensors, plan, grid.lanes);
  });
}

// For plans of all types.
template <class Plan>
cudaError_t launch_any_rows(cudaStream_t stream, const NativePlan& bytes,
                            const Addresses& tensors) {
  const auto plan = bytes.as<Plan>();
  if (plan.rows() == 0) return cudaSuccess;
  constexpr int kThreads = 256;
  const RowGrid grid = row_grid(plan.rows(), plan.row_size(), kThreads);
  return launch_by(plan.precision, [&](auto zero) {
    any_row_kernel<decltype(zero)>
        <<<grid.blocks, grid.threads, 0, stream>>>(tensors, plan, grid.lanes);
  });
}

}  // namespace bench::ops::cuda
