// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kTile = 32;
constexpr int kThreadRows = 8;

// Reads a tile along the source's rows and writes it along the destination's rows. The extra column
// of `tile` puts a warp's threads on different banks of shared memory.
template <class Word>
__global__ void transpose_kernel(const Word* source, Word* destination, TransposePlan plan) {
  __shared__ Word tile[kTile][kTile + 1];
  const std::int64_t down = (plan.rows + kTile - 1) / kTile;
  const std::int64_t across = (plan.columns + kTile - 1) / kTile;
  const std::int64_t tiles = plan.batch * down * across;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t base = t / (down * across) * plan.rows * plan.columns;
    const std::int64_t first_row = t / across % down * kTile;
    const std::int64_t first_column = t % across * kTile;
    for (int y = threadIdx.y; y < kTile; y += kThreadRows) {
      const std::int64_t row = first_row + y;
      const std::int64_t column = first_column + threadIdx.x;
      if (row < plan.rows && column < plan.columns) {
        tile[y][threadIdx.x] = source[base + row * plan.columns + column];
      }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kThreadRows) {
      const std::int64_t column = first_column + y;
      const std::int64_t row = first_row + threadIdx.x;
      if (row < plan.rows && column < plan.columns) {
        destination[base + column * plan.rows + row] = tile[threadIdx.x][y];
      }
    }
    __syncthreads();  // the next tile overwrites this one
  }
}

template <class Word>
void start(cudaStream_t stream, const TransposePlan& plan, const Addresses& tensors) {
  const std::int64_t tiles =
      plan.batch * ((plan.rows + kTile - 1) / kTile) * ((plan.columns + kTile - 1) / kTile);
  transpose_kernel<Word><<<grid_size(tiles), dim3(kTile, kThreadRows), 0, stream>>>(
      static_cast<const Word*>(tensors.at[0]), static_cast<Word*>(tensors.at[1]), plan);
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<TransposePlan>();
  if (plan.batch * plan.rows * plan.columns == 0) return cudaSuccess;
  switch (plan.bytes) {
    case 1:
      start<std::uint8_t>(stream, plan, tensors);
      break;
    case 2:
      start<std::uint16_t>(stream, plan, tensors);
      break;
    case 4:
      start<std::uint32_t>(stream, plan, tensors);
      break;
    case 8:
      start<std::uint64_t>(stream, plan, tensors);
      break;
    default:
      return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}

}  // namespace

extern const DeviceKernel transpose_device_kernel;
const DeviceKernel transpose_device_kernel = {TransposePlan::kKernel, launch};

}  // namespace bench::ops::cuda
