// SPDX-License-Identifier: Apache-2.0
// If a toolkit is present, profiler/cupti/occupancy_reference_test.cpp compares with the numbers of
// NVIDIA's own calculator.
#include "profiler/gpu/occupancy.hpp"

#include "tests/fakes/gpu_session.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace bench {
namespace {

GpuKernel launch(std::int64_t threads, std::int64_t registers, std::int64_t shared) {
  GpuKernel kernel;
  kernel.block = {threads, 1, 1};
  kernel.registers = registers;
  kernel.dynamic_shared_bytes = shared;
  return kernel;
}

const GpuLimits kHopper = test::hopper().limits;

std::int64_t blocks(const GpuKernel& kernel, const GpuLimits& limits = kHopper) {
  const auto occupancy = theoretical_occupancy(limits, kernel);
  return occupancy ? occupancy->blocks_per_multiprocessor : 0;
}

TEST(Occupancy, EachLimitInTurn) {
  EXPECT_EQ(blocks(launch(1024, 32, 0)), 2);  // 64 warps / 32
  EXPECT_EQ(blocks(launch(32, 16, 0)), 32);   // limit of blocks per multiprocessor
  // 4096 registers per warp: 4 warps per partition, 16 / 8
  EXPECT_EQ(blocks(launch(256, 128, 0)), 2);
  EXPECT_EQ(blocks(launch(128, 33, 0)), 12);         // 1056 -> 1280: 12 warps per partition, 48 / 4
  EXPECT_EQ(blocks(launch(128, 32, 99 * 1024)), 2);  // 100 KiB with the driver's part, of 228
  EXPECT_EQ(blocks(launch(128, 32, 227 * 1024)), 1);
  const auto half = theoretical_occupancy(kHopper, launch(256, 64, 0));
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->blocks_per_multiprocessor, 4);
  EXPECT_DOUBLE_EQ(half->share, 0.5);
}

TEST(Occupancy, BlocksAreOfWholeWarps) {
  const auto occupancy = theoretical_occupancy(kHopper, launch(33, 32, 0));
  ASSERT_TRUE(occupancy.has_value());
  EXPECT_EQ(occupancy->blocks_per_multiprocessor, 32);
  EXPECT_DOUBLE_EQ(occupancy->share, 1.0);  // 32 blocks of 2 warps
}

// From compute capability 8.0 on, the driver reserves 1 KiB of each block.
TEST(Occupancy, SharedMemoryOfTuring) {
  GpuLimits turing = kHopper;
  turing.compute_major = 7;
  turing.compute_minor = 5;
  turing.warps_per_multiprocessor = 32;
  turing.blocks_per_multiprocessor = 16;
  turing.shared_bytes_per_multiprocessor = 64 * 1024;
  EXPECT_EQ(blocks(launch(64, 32, 32 * 1024), turing), 2);
  EXPECT_EQ(blocks(launch(64, 32, 32 * 1024 + 1), turing), 1);
  EXPECT_EQ(blocks(launch(64, 32, 0), turing), 16);
}

TEST(Occupancy, NoneWhereItCannotRun) {
  EXPECT_FALSE(theoretical_occupancy(kHopper, launch(1025, 32, 0)).has_value());
  EXPECT_FALSE(theoretical_occupancy(kHopper, launch(0, 32, 0)).has_value());
  EXPECT_FALSE(theoretical_occupancy(kHopper, launch(128, 32, 228 * 1024)).has_value());
  EXPECT_FALSE(theoretical_occupancy(kHopper, launch(1024, 255, 0)).has_value());
  EXPECT_FALSE(theoretical_occupancy(kHopper, launch(32, 256, 0)).has_value());
  // 5 warps of 5120 registers would fit, but the hardware counts 8 warps.
  GpuLimits small = kHopper;
  small.registers_per_block = 32768;
  EXPECT_EQ(blocks(launch(160, 160, 0)), 2);
  EXPECT_FALSE(theoretical_occupancy(small, launch(160, 160, 0)).has_value());
}

}  // namespace
}  // namespace bench
