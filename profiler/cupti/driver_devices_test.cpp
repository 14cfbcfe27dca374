// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/driver_devices.hpp"

#include "profiler/gpu/occupancy.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace bench {
namespace {

// A driver with one H100, as device 0.
DriverDeviceApi h100_driver() {
  DriverDeviceApi driver;
  driver.get = [](CUdevice* handle, int ordinal) {
    *handle = 100 + ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  };
  driver.attribute = [](int* value, CUdevice_attribute attribute, CUdevice handle) {
    if (handle != 100) return CUDA_ERROR_INVALID_DEVICE;
    switch (static_cast<int>(attribute)) {
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        *value = 32;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = 2048;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        *value = 65536;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = 233472;
        return CUDA_SUCCESS;
      case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  };
  driver.name = [](char* name, int size, CUdevice) {
    std::strncpy(name, "NVIDIA H100 80GB HBM3", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
  };
  driver.total_memory = [](std::size_t* bytes, CUdevice) {
    *bytes = 85'017'493'504;
    return CUDA_SUCCESS;
  };
  return driver;
}

// The transposition of ResNet-50's input on an H100: 48 registers and 2112 B of shared memory.
GpuKernel transposition() {
  GpuKernel kernel;
  kernel.grid = {16384, 1, 1};
  kernel.block = {32, 8, 1};
  kernel.registers = 48;
  kernel.static_shared_bytes = 2112;
  return kernel;
}

TEST(DriverDevices, TheDriversLimitsGiveTheOccupancyOfAKernel) {
  const auto device = describe_device(h100_driver(), 0);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->device, 0);
  EXPECT_EQ(device->name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device->multiprocessors, 132);
  EXPECT_EQ(device->memory_bytes, 85'017'493'504);
  EXPECT_EQ(device->limits.warps_per_multiprocessor, 64);
  // Registers decide: a warp takes 1536 of the 16384 of its partition, so 10 warps fit into each of
  // the 4 partitions. These are 5 blocks of 8 warps.
  const auto occupancy = theoretical_occupancy(device->limits, transposition());
  ASSERT_TRUE(occupancy);
  EXPECT_EQ(occupancy->blocks_per_multiprocessor, 5);
  EXPECT_EQ(occupancy->share, 0.625);
}

TEST(DriverDevices, AnUnknownDeviceOrLimitGivesNoDescription) {
  DriverDeviceApi driver = h100_driver();
  EXPECT_FALSE(describe_device(driver, 1));
  EXPECT_FALSE(describe_device(driver, -1));
  driver.attribute = [](int*, CUdevice_attribute, CUdevice) { return CUDA_ERROR_DEINITIALIZED; };
  EXPECT_FALSE(describe_device(driver, 0));
}

TEST(DriverDevices, ANameOrMemoryThatTheDriverDoesNotStateIsLeftOut) {
  DriverDeviceApi driver = h100_driver();
  driver.name = [](char*, int, CUdevice) { return CUDA_ERROR_UNKNOWN; };
  driver.total_memory = [](std::size_t*, CUdevice) { return CUDA_ERROR_UNKNOWN; };
  const auto device = describe_device(driver, 0);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "");
  EXPECT_EQ(device->memory_bytes, 0);
}

}  // namespace
}  // namespace bench
