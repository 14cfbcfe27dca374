// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/device/device_kernels.hpp"
#include "ops/cuda/kernels/device/launching.hpp"
#include "ops/peak/cuda_native.hpp"

namespace bench::ops::cuda {
namespace {

using Kind = PeakPlan::Kind;
using Factors = PeakPlan::Factors;

constexpr int kMoveThreadsPerBlock = 256;

// Reads and writes through the second-level cache and bypasses the first-level cache.
struct DeviceMemory {
  static __device__ PeakQuad load(const void* array, std::int64_t quad) {
    const auto* address = static_cast<const PeakQuad*>(array) + quad;
    PeakQuad value;
    // volatile: a compiler must not reuse the values of an earlier pass.
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.at[0]), "=f"(value.at[1]), "=f"(value.at[2]), "=f"(value.at[3])
                 : "l"(address));
    return value;
  }
  static __device__ void store(void* array, std::int64_t quad, const PeakQuad& value) {
    auto* address = static_cast<PeakQuad*>(array) + quad;
    asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(address), "f"(value.at[0]),
                 "f"(value.at[1]), "f"(value.at[2]), "f"(value.at[3])
                 : "memory");
  }
};

// The order of the additions does not matter: all sums are exact.
template <Factors kFactors, class T>
__global__ void __launch_bounds__(kPeakThreads)
    peak_products_kernel(const void* source, T* destination, PeakPlan plan) {
  T sums[kPeakAccumulators];
  const int thread = threadIdx.x;
  compute_block_sums<kFactors>(plan, source, thread, blockIdx.x, gridDim.x, sums);
  BENCH_UNROLL
  for (int i = 0; i < kPeakAccumulators; ++i) {
    atomicAdd(destination + i * kPeakThreads + thread, sums[i]);
  }
}

template <class T>
__global__ void __launch_bounds__(kPeakThreads)
    peak_add_source_kernel(const void* source, T* destination) {
  const int i = blockIdx.x * kPeakThreads + threadIdx.x;
  destination[i] += read_as<T>(source, i);
}

// Replaces *address by `value` if that is larger. Compares floats by their bits. Every value
// replaces the initial value, a NaN of bytes kNanByte.
__device__ void atomic_max(float* address, float value) {
  value += 0.0f;  // -0 becomes 0, so that it compares above all negative values
  if (value >= 0) {
    atomicMax(reinterpret_cast<int*>(address), __float_as_int(value));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(address), __float_as_uint(value));
  }
}
constexpr int kNanByte = 0xff;

__device__ float reduce_warp_max(float value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) {
    const float other = __shfl_down_sync(0xffffffffu, value, distance);
    value = other > value ? other : value;
  }
  return value;
}

// Uses one atomic operation per block, because all of them access the same address.
__device__ void store_block_max(float* destination, float largest) {
  constexpr int kWarps = kMoveThreadsPerBlock / 32;
  __shared__ float warp_maxima[kWarps];
  const float warp_max = reduce_warp_max(largest);
  if (threadIdx.x % 32 == 0) warp_maxima[threadIdx.x / 32] = warp_max;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const float other : warp_maxima) largest = other > largest ? other : largest;
  atomic_max(destination, largest);
}

template <Kind kKind>
__global__ void __launch_bounds__(kMoveThreadsPerBlock)
    peak_moving_kernel(Addresses tensors, PeakPlan plan) {
  const std::int64_t thread = std::int64_t(blockIdx.x) * kMoveThreadsPerBlock + threadIdx.x;
  const std::int64_t threads = std::int64_t(gridDim.x) * kMoveThreadsPerBlock;
  const float largest = move_quads<kKind, DeviceMemory>(plan, tensors, thread, threads);
  if (kKind == Kind::read) store_block_max(static_cast<float*>(tensors.at[1]), largest);
}

// Computes the number of blocks that fill the device once. More blocks would start when these end,
// and the device would be partly idle at the end.
template <class Kernel>
cudaError_t count_resident_blocks(Kernel kernel, int threads, std::int64_t& blocks) {
  int device = 0, processors = 0, blocks_per_processor = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess) {
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  }
  if (error == cudaSuccess) {
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_processor, kernel, threads, 0);
  }
  blocks = std::int64_t(processors) * blocks_per_processor;
  return error;
}

template <Factors kFactors>
cudaError_t launch_products(cudaStream_t stream, const PeakPlan& plan, const Addresses& tensors) {
  using T = typename PeakSums<kFactors>::Type;
  constexpr auto* kKernel = peak_products_kernel<kFactors, T>;
  auto* destination = static_cast<T*>(tensors.at[1]);
  std::int64_t blocks = 0;
  cudaError_t error = count_resident_blocks(kKernel, kPeakThreads, blocks);
  if (error == cudaSuccess) {
    error = cudaMemsetAsync(destination, 0, sizeof(T) * kPeakThreads * kPeakAccumulators, stream);
  }
  if (error != cudaSuccess) return error;
  kKernel<<<grid_size(plan.steps, blocks), kPeakThreads, 0, stream>>>(tensors.at[0], destination,
                                                                      plan);
  peak_add_source_kernel<T>
      <<<kPeakAccumulators, kPeakThreads, 0, stream>>>(tensors.at[0], destination);
  return cudaGetLastError();
}

template <Kind kKind>
cudaError_t launch_movement(cudaStream_t stream, const PeakPlan& plan, const Addresses& tensors) {
  std::int64_t blocks = 0;
  cudaError_t error =
      count_resident_blocks(peak_moving_kernel<kKind>, kMoveThreadsPerBlock, blocks);
  if (error == cudaSuccess && kKind == Kind::read) {
    error = cudaMemsetAsync(tensors.at[1], kNanByte, sizeof(float), stream);
  }
  if (error != cudaSuccess) return error;
  const std::int64_t needed_blocks = (plan.quads + kMoveThreadsPerBlock - 1) / kMoveThreadsPerBlock;
  peak_moving_kernel<kKind>
      <<<grid_size(needed_blocks, blocks), kMoveThreadsPerBlock, 0, stream>>>(tensors, plan);
  return cudaGetLastError();
}

cudaError_t launch_products_by_type(cudaStream_t stream, const PeakPlan& plan,
                                    const Addresses& tensors) {
  switch (plan.factors) {
    case Factors::f32:
      return launch_products<Factors::f32>(stream, plan, tensors);
    case Factors::f64:
      return launch_products<Factors::f64>(stream, plan, tensors);
    case Factors::f16:
      return launch_products<Factors::f16>(stream, plan, tensors);
  }
  return cudaErrorInvalidValue;
}

cudaError_t launch(cudaStream_t stream, const NativePlan& native_plan, const Addresses& tensors) {
  const auto plan = native_plan.as<PeakPlan>();
  switch (plan.kind) {
    case Kind::products:
      return launch_products_by_type(stream, plan, tensors);
    case Kind::read:
      return launch_movement<Kind::read>(stream, plan, tensors);
    case Kind::write:
      return launch_movement<Kind::write>(stream, plan, tensors);
    case Kind::copy:
      return launch_movement<Kind::copy>(stream, plan, tensors);
    case Kind::triad:
      return launch_movement<Kind::triad>(stream, plan, tensors);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

extern const DeviceKernel peak_device_kernel;
const DeviceKernel peak_device_kernel = {PeakPlan::kKernel, launch};

}  // namespace bench::ops::cuda
