// SPDX-License-Identifier: Apache-2.0
// A device's clock, power and memory as NVML tells them, for traces.
#pragma once

#include "ops/cuda/nvml.hpp"
#include "ops/cuda/runtime/device_readings.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// `process`: this process, as its namespace numbers it. In a container NVML lists it under another
// number, or not at all: its memory is not known then.
DeviceState state_of(const NvmlReading& reading, std::int64_t process);

// Loads NVML when it is called, and asks for the device at the bus id that `bus_id` gives then.
StateReaderMaker readings_by_nvml(std::vector<SearchStep> search,
                                  std::function<Result<std::string>()> bus_id);

}  // namespace bench::ops::cuda
