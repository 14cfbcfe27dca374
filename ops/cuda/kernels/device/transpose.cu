// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/cuda/kernels/transpose_functions.hpp"

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

constexpr int kWarp = 32;
constexpr int kMaxPixelThreads = 256;
constexpr std::int64_t kMaxImageBlocks = 65535;  // limit of a grid's second dimension

// One thread moves one pixel, so that the threads of a warp read or write each plane in a row.
template <class Packed>
__global__ void pixel_kernel(const typename Packed::Stored* source,
                             typename Packed::Stored* destination, PixelPlan plan) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t image = blockIdx.y; image < plan.images; image += gridDim.y) {
    for (std::int64_t pixel = first; pixel < plan.pixels; pixel += stride) {
      move_pixel<Packed>(plan, source, destination, image, pixel);
    }
  }
}

template <class Packed>
void start_pixels(cudaStream_t stream, const PixelPlan& plan, const Addresses& tensors) {
  using Word = typename Packed::Stored;
  const std::int64_t warps = (plan.pixels + kWarp - 1) / kWarp;
  const int threads =
      static_cast<int>(warps * kWarp < kMaxPixelThreads ? warps * kWarp : kMaxPixelThreads);
  const dim3 grid(grid_size((plan.pixels + threads - 1) / threads),
                  grid_size(plan.images, kMaxImageBlocks));
  pixel_kernel<Packed><<<grid, threads, 0, stream>>>(static_cast<const Word*>(tensors.at[0]),
                                                     static_cast<Word*>(tensors.at[1]), plan);
}

cudaError_t launch_pixels(cudaStream_t stream, const TransposePlan& plan,
                          const Addresses& tensors) {
  const PixelPlan pixels = make_pixel_plan(plan);
  const bool started = run_by_packed_channels(plan.bytes, pixels.channels, [&](auto packed) {
    start_pixels<decltype(packed)>(stream, pixels, tensors);
  });
  return started ? cudaGetLastError() : cudaErrorInvalidValue;
}

cudaError_t launch(cudaStream_t stream, const NativePlan& bytes, const Addresses& tensors) {
  const auto plan = bytes.as<TransposePlan>();
  if (plan.batch * plan.rows * plan.columns == 0) return cudaSuccess;
  if (has_few_channels(plan)) return launch_pixels(stream, plan, tensors);
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
