// SPDX-License-Identifier: Apache-2.0
// Kernels whose time, grid and operations are known beforehand. Each function enqueues one launch
// and returns its error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench::ops::cuda {

struct LaunchShape {
  unsigned grid = 1, block = 1;
};

// Takes `nanoseconds` by the device's clock, whatever the shape is.
cudaError_t launch_spin(cudaStream_t stream, std::int64_t nanoseconds, LaunchShape shape);

// Two instances of one template.
cudaError_t launch_touch_float(cudaStream_t stream, float* target);
cudaError_t launch_touch_int(cudaStream_t stream, int* target);

// Copies, read and written once; `bytes` in multiples of 16.
cudaError_t launch_copy(cudaStream_t stream, void* target, const void* source, std::size_t bytes);

// 2 * kFmaChain * grid * block operations in f32 that depend on `seed`; one result a thread.
inline constexpr int kFmaChain = 4096 * 8;
cudaError_t launch_fma(cudaStream_t stream, float* results, float seed, LaunchShape shape);

}  // namespace bench::ops::cuda
