// SPDX-License-Identifier: Apache-2.0
// The plugin's own kernels: what a measurement needs around the kernels of libraries. Each function
// enqueues one launch and returns its error; none waits.
#pragma once

#include "ops/cuda/runtime/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench::ops::cuda {

// Nothing: the floor of a launch.
cudaError_t launch_empty(cudaStream_t stream);

// Holds the stream back until *release (mapped host memory, device address) is not 0, so that
// launches behind it queue up; gives up after `limit_ns` and then sets *timed_out, device memory or
// mapped likewise, to 1.
cudaError_t launch_blocking(cudaStream_t stream, const std::int32_t* release,
                            std::int32_t* timed_out, std::int64_t limit_ns);

// Writes `pattern` over `bytes` at `target` (aligned to 16): poison before a check. A rest of less
// than 16 bytes is written bytewise with the pattern's lowest byte.
cudaError_t launch_fill(cudaStream_t stream, void* target, std::size_t bytes,
                        std::uint32_t pattern);

// Reads and rewrites `bytes` at `scratch` (aligned to 16, the rest is left alone): with twice the
// size of the L2 cache nothing else is left in it.
cudaError_t launch_flush(cudaStream_t stream, void* scratch, std::size_t bytes);

// Into memory that the device sees. A block on each of the `multiprocessors` keeps the reading on
// the first one; where no block lands there nothing is written: clear the reading before.
cudaError_t launch_read_clock(cudaStream_t stream, ClockReading* reading, int multiprocessors);

}  // namespace bench::ops::cuda
