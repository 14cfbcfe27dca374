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

// Spins for `nanoseconds` on the device's clock, whatever the shape.
cudaError_t launch_spin(cudaStream_t stream, std::int64_t nanoseconds, LaunchShape shape);

// Two instantiations of one kernel template. Their names differ only in the template argument.
cudaError_t launch_touch_float(cudaStream_t stream, float* target);
cudaError_t launch_touch_int(cudaStream_t stream, int* target);

// Copies `bytes`, read and written once; `bytes` must be a multiple of 16.
cudaError_t launch_copy(cudaStream_t stream, void* target, const void* source, std::size_t bytes);

// Executes 2 * kFmaChain * grid * block f32 operations that depend on `seed`; one result per
// thread.
inline constexpr int kFmaChain = 4096 * 8;
cudaError_t launch_fma(cudaStream_t stream, float* results, float seed, LaunchShape shape);

}  // namespace bench::ops::cuda
