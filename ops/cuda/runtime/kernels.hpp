// SPDX-License-Identifier: Apache-2.0
// The plugin's helper kernels, which a measurement launches around the libraries' kernels. Each
// function enqueues one launch, returns its error and does not wait.
#pragma once

#include "ops/cuda/runtime/clock_reading.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace bench::ops::cuda {

// Launches an empty kernel. Its time is the minimum duration of a launch.
cudaError_t launch_empty(cudaStream_t stream);

// Blocks the stream until *release (mapped host memory, device address) is not 0, so that later
// launches queue up. After `limit_ns` it ends and sets *timed_out to 1 (device memory, or
// mapped as above).
cudaError_t launch_blocking(cudaStream_t stream, const std::int32_t* release,
                            std::int32_t* timed_out, std::int64_t limit_ns);

// Writes `pattern` over `bytes` at `target` (aligned to 16), to poison memory before a check. A
// remainder of less than 16 bytes is filled with the pattern's lowest byte.
cudaError_t launch_fill(cudaStream_t stream, void* target, std::size_t bytes,
                        std::uint32_t pattern);

// Reads and rewrites `bytes` at `scratch` (aligned to 16; the remainder is unchanged). If
// `bytes` is twice the size of the L2 cache, this evicts everything else from the cache.
cudaError_t launch_flush(cudaStream_t stream, void* scratch, std::size_t bytes);

// Writes the clocks to memory that the device can address. It launches one block per multiprocessor
// and keeps the reading of the first. Clear the reading before: nothing is written if no block runs
// on the first.
cudaError_t launch_read_clock(cudaStream_t stream, ClockReading* reading, int multiprocessors);

}  // namespace bench::ops::cuda
