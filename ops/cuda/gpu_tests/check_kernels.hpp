// SPDX-License-Identifier: Apache-2.0
// Kernels whose time, grid and operation count are known in advance. Each function enqueues one
// launch and returns its error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench::ops::cuda {

struct LaunchShape {
  unsigned grid = 1, block = 1;
};

// Launches a kernel that takes `nanoseconds` on the device's clock, for any shape.
cudaError_t launch_spin(cudaStream_t stream, std::int64_t nanoseconds, LaunchShape shape);

// Launch two instantiations of one kernel template, whose names differ only in the template
// argument.
cudaError_t launch_touch_float(cudaStream_t stream, float* target);
cudaError_t launch_touch_int(cudaStream_t stream, int* target);

// Copies `bytes` bytes. Reads and writes each byte once. `bytes` must be a multiple of 16.
cudaError_t launch_copy(cudaStream_t stream, void* target, const void* source, std::size_t bytes);

// Executes 2 * kFmaChain * grid * block f32 operations that depend on `seed`. Writes one result per
// thread.
inline constexpr int kFmaChain = 4096 * 8;
cudaError_t launch_fma(cudaStream_t stream, float* results, float seed, LaunchShape shape);

}  // namespace bench::ops::cuda
