// SPDX-License-Identifier: Apache-2.0
// Reads a device's counters with CUPTI: DeviceCounters over profiler/cupti.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device_counters.hpp"
#include "ops/cuda/library_search.hpp"
#include "profiler/cupti/counters.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace bench::ops::cuda {

// Returns the device whose context is current on the calling thread, from the driver that is loaded
// in this process. Error: no driver is loaded, or no context is current.
Result<CounterDevice> current_counter_device();

struct CounterParts {
  std::function<Result<CounterLibrary>()> load;  // called once, by the first measurement
  // Called after invocations have run, so that a context exists.
  std::function<Result<CounterDevice>()> device = current_counter_device;
};

// Invocations must be CudaInvocations: their run() waits for the device.
std::shared_ptr<DeviceCounters> make_device_counters(CounterParts parts);
// Uses the CUPTI that the search finds.
std::shared_ptr<DeviceCounters> make_device_counters(std::vector<SearchStep> search);

}  // namespace bench::ops::cuda
