// SPDX-License-Identifier: Apache-2.0
// A device's clock, power and memory as NVML reports them, for traces.
#pragma once

#include "ops/cuda/nvml.hpp"
#include "ops/cuda/runtime/device_readings.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// `process` is this process's id in its own namespace. In a container NVML lists it with another id
// or not at all; its memory is then unknown.
DeviceState state_of(const NvmlReading& reading, std::int64_t process);

// Loads NVML when called, and reads the device with the bus id that `bus_id` returns then.
StateReaderMaker readings_by_nvml(std::vector<SearchStep> search,
                                  std::function<Result<std::string>()> bus_id);

}  // namespace bench::ops::cuda
