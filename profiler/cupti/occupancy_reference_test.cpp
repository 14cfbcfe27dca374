// SPDX-License-Identifier: Apache-2.0
// Compares this tool's occupancy with the CUDA toolkit's calculator for every generation that it
// supports.
#include "profiler/gpu/occupancy.hpp"

#include <cuda_occupancy.h>
#include <gtest/gtest.h>

#include <climits>

namespace bench {
namespace {

struct Architecture {
  int major, minor;
  int warps, blocks;  // per multiprocessor
  int shared_kib;     // per multiprocessor
};
// From the Programming Guide, table of compute capabilities; blocks as in cuda_occupancy.h.
constexpr Architecture kArchitectures[] = {
    {7, 5, 32, 16, 64},  {8, 0, 64, 32, 164},  {8, 6, 48, 16, 100}, {8, 9, 48, 24, 100},
    {9, 0, 64, 32, 228}, {10, 0, 64, 32, 228}, {12, 0, 48, 24, 100}};

GpuLimits limits_of(const Architecture& each) {
  return {each.major, each.minor,  32,
          each.warps, each.blocks, 1024,
          65536,      65536,       std::int64_t{each.shared_kib} * 1024};
}

cudaOccDeviceProp properties_of(const Architecture& each) {
  cudaOccDeviceProp properties;
  properties.computeMajor = each.major;
  properties.computeMinor = each.minor;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = each.warps * 32;
  properties.regsPerBlock = 65536;
  properties.regsPerMultiprocessor = 65536;
  properties.warpSize = 32;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(each.shared_kib) * 1024;
  properties.numSms = 100;
  properties.reservedSharedMemPerBlock = each.major >= 8 ? 1024 : 0;
  properties.sharedMemPerBlockOptin =
      properties.sharedMemPerMultiprocessor - properties.reservedSharedMemPerBlock;
  return properties;
}

int reference_blocks(const Architecture& architecture, int threads, int registers, int fixed,
                     int dynamic) {
  const cudaOccDeviceProp properties = properties_of(architecture);
  cudaOccFuncAttributes attributes;
  attributes.maxThreadsPerBlock = INT_MAX;
  attributes.numRegs = registers;
  attributes.sharedSizeBytes = static_cast<std::size_t>(fixed);
  attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(dynamic);
  attributes.numBlockBarriers = 1;
  const cudaOccDeviceState state;
  cudaOccResult result{};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &attributes, &state, threads, static_cast<std::size_t>(dynamic));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
}

TEST(OccupancyReference, EqualsTheToolkitsCalculator) {
  int compared = 0, running = 0;
  for (const Architecture& architecture : kArchitectures) {
    for (const int threads : {1, 32, 33, 64, 96, 128, 160, 192, 256, 384, 512, 640, 768, 1024}) {
      for (int registers = 0; registers <= 255; registers += 5) {
        for (const int dynamic : {0, 1, 100, 1024, 4097, 16384, 32768, 49152, 65536, 99 * 1024,
                                  100 * 1024, 163 * 1024, 227 * 1024, 228 * 1024}) {
          const int fixed = dynamic % 3 * 512;
          GpuKernel kernel;
          kernel.block = {threads, 1, 1};
          kernel.registers = registers;
          kernel.static_shared_bytes = fixed;
          kernel.dynamic_shared_bytes = dynamic;
          const auto ours = theoretical_occupancy(limits_of(architecture), kernel);
          const int expected = reference_blocks(architecture, threads, registers, fixed, dynamic);
          ASSERT_EQ(ours ? ours->blocks_per_multiprocessor : 0, expected)
              << architecture.major << '.' << architecture.minor << " threads " << threads
              << " registers " << registers << " shared " << fixed << '+' << dynamic;
          ++compared;
          running += expected > 0;
        }
      }
    }
  }
  EXPECT_EQ(compared, 7 * 14 * 52 * 14);
  EXPECT_GT(running, compared / 3);  // many of the compared values are not 0
}

}  // namespace
}  // namespace bench
