// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/kernels.hpp"

namespace bench::ops::cuda {
namespace {

constexpr int kThreadsPerBlock = 256;
// Enough blocks to fill the largest device several times over. If there are more elements, each
// thread processes several.
constexpr std::size_t kMaxBlocks = 4096;

__device__ std::int64_t global_time() {
  std::int64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

__device__ unsigned multiprocessor_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

__global__ void empty_kernel() {}

__global__ void blocking_kernel(const volatile std::int32_t* release,
                                volatile std::int32_t* timed_out, std::int64_t limit) {
  const std::int64_t start = global_time();
  while (*release == 0) {
    if (global_time() - start > limit) {
      *timed_out = 1;
      return;
    }
  }
}

__global__ void fill_kernel(uint4* target, std::size_t count, std::uint32_t pattern) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    target[i] = make_uint4(pattern, pattern, pattern, pattern);
  }
}

__global__ void flush_kernel(uint4* scratch, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    uint4 value = scratch[i];
    value.x += 1;
    scratch[i] = value;
  }
}

__global__ void clock_kernel(ClockReading* reading) {
  if (multiprocessor_id() != 0 || threadIdx.x != 0) return;
  // Reads one right after the other, because both must describe the same moment.
  const std::int64_t cycles = clock64();
  const std::int64_t nanoseconds = global_time();
  reading->cycles = cycles;
  reading->nanoseconds = nanoseconds;
}

unsigned count_blocks(std::size_t count) {
  const std::size_t blocks = (count + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks);
}

}  // namespace

cudaError_t launch_empty(cudaStream_t stream) {
  empty_kernel<<<1, 1, 0, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_blocking(cudaStream_t stream, const std::int32_t* release,
                            std::int32_t* timed_out, std::int64_t limit_ns) {
  blocking_kernel<<<1, 1, 0, stream>>>(release, timed_out, limit_ns);
  return cudaGetLastError();
}

cudaError_t launch_fill(cudaStream_t stream, void* target, std::size_t bytes,
                        std::uint32_t pattern) {
  const std::size_t count = bytes / sizeof(uint4);
  if (count > 0) {
    fill_kernel<<<count_blocks(count), kThreadsPerBlock, 0, stream>>>(static_cast<uint4*>(target),
                                                                      count, pattern);
  }
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) return error;
  const std::size_t remaining_bytes = bytes % sizeof(uint4);
  if (remaining_bytes == 0) return cudaSuccess;
  return cudaMemsetAsync(static_cast<char*>(target) + bytes - remaining_bytes,
                         static_cast<int>(pattern & 0xff), remaining_bytes, stream);
}

cudaError_t launch_flush(cudaStream_t stream, void* scratch, std::size_t bytes) {
  const std::size_t count = bytes / sizeof(uint4);
  if (count == 0) return cudaSuccess;
  flush_kernel<<<count_blocks(count), kThreadsPerBlock, 0, stream>>>(static_cast<uint4*>(scratch),
                                                                     count);
  return cudaGetLastError();
}

cudaError_t launch_read_clock(cudaStream_t stream, ClockReading* reading, int multiprocessors) {
  clock_kernel<<<static_cast<unsigned>(multiprocessors), 32, 0, stream>>>(reading);
  return cudaGetLastError();
}

}  // namespace bench::ops::cuda
