// SPDX-License-Identifier: Apache-2.0
// Describes devices by the CUDA driver that the process has loaded. CUPTI 13.0 was seen to deliver
// no DEVICE record on an H100, and without a device's limits no kernel has an occupancy.
#pragma once

#include "base/function_table.hpp"
#include "profiler/gpu/gpu_record.hpp"

#include <cuda.h>

#include <cstdint>
#include <optional>

namespace bench {

// Plain pointers, so that tests can insert their own functions.
struct DriverDeviceApi {
  BENCH_FUNCTIONS(DriverDeviceApi, (get, cuDeviceGet), (attribute, cuDeviceGetAttribute),
                  (name, cuDeviceGetName), (total_memory, cuDeviceTotalMem_v2));
};

// Returns nullopt if the process has not loaded the driver, or if a function is missing.
std::optional<DriverDeviceApi> loaded_driver();

// Returns nullopt if the driver does not know the device or one of its limits.
std::optional<GpuDevice> describe_device(const DriverDeviceApi& driver, std::int64_t device);

// Both: describes the device by the loaded driver.
std::optional<GpuDevice> describe_device_by_driver(std::int64_t device);

}  // namespace bench
