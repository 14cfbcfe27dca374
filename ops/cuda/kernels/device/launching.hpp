// SPDX-License-Identifier: Apache-2.0
// Functions that all launches of native kernels share. C++17, for nvcc.
#pragma once

#include "ops/cuda/kernels/plans.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>

namespace bench::ops::cuda {

// Maximum number of blocks per launch. It fills the largest device several times over. Kernels loop
// over the remaining work with a stride.
constexpr std::int64_t kMaxBlocks = 16384;

inline unsigned grid_size(std::int64_t blocks, std::int64_t max_blocks = kMaxBlocks) {
  return static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
}

// Calls `start` with a zero of the type that `precision` selects. Returns the launch's error.
template <class Start>
cudaError_t launch_by(Precision precision, Start start) {
  if (precision == Precision::wide) {
    start(double());
  } else {
    start(float());
  }
  return cudaGetLastError();
}

}  // namespace bench::ops::cuda
