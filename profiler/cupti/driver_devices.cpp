// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/driver_devices.hpp"

#include <array>
#include <limits>
#include <string>

namespace bench {
namespace {

// A number of the description, and the driver's attribute with its value.
struct LimitRow {
  std::int64_t GpuLimits::*limit;
  CUdevice_attribute attribute;
};
constexpr std::array<LimitRow, 8> kLimits = {{
    {&GpuLimits::compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {&GpuLimits::compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {&GpuLimits::warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {&GpuLimits::blocks_per_multiprocessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {&GpuLimits::threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&GpuLimits::registers_per_multiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {&GpuLimits::registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {&GpuLimits::shared_bytes_per_multiprocessor,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
}};

}  // namespace

std::optional<DriverDeviceApi> loaded_driver() {
  const auto library = DynamicLibrary::find_loaded("libcuda.so.1");
  DriverDeviceApi driver;
  if (!library || !fill_functions(*library, driver)) return std::nullopt;
  return driver;
}

std::optional<GpuDevice> describe_device(const DriverDeviceApi& driver, std::int64_t device) {
  CUdevice handle = 0;
  if (device < 0 || device > std::numeric_limits<int>::max() ||
      driver.get(&handle, static_cast<int>(device)) != CUDA_SUCCESS) {
    return std::nullopt;
  }
  const auto read = [&](CUdevice_attribute attribute, std::int64_t& value) {
    int number = 0;
    if (driver.attribute(&number, attribute, handle) != CUDA_SUCCESS) return false;
    value = number;
    return true;
  };
  GpuDevice description;
  description.device = device;
  for (const LimitRow& row : kLimits) {
    if (!read(row.attribute, description.limits.*row.limit)) return std::nullopt;
  }
  std::int64_t threads = 0;
  if (!read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, threads) ||
      !read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, description.multiprocessors) ||
      description.limits.warp_size < 1) {
    return std::nullopt;
  }
  description.limits.warps_per_multiprocessor = threads / description.limits.warp_size;
  std::array<char, 256> name{};
  if (driver.name(name.data(), static_cast<int>(name.size()) - 1, handle) == CUDA_SUCCESS) {
    description.name = name.data();
  }
  std::size_t bytes = 0;
  if (driver.total_memory(&bytes, handle) == CUDA_SUCCESS) {
    description.memory_bytes = static_cast<std::int64_t>(bytes);
  }
  return description;
}

std::optional<GpuDevice> describe_device_by_driver(std::int64_t device) {
  const auto driver = loaded_driver();
  return driver ? describe_device(*driver, device) : std::nullopt;
}

}  // namespace bench
