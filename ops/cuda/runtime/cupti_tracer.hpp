// SPDX-License-Identifier: Apache-2.0
// What a device does, recorded by CUPTI: DeviceTracer over profiler/cupti.
#pragma once

#include "base/result.hpp"
#include "ops/backend/device.hpp"
#include "ops/cuda/library_search.hpp"
#include "ops/cuda/runtime/allocation_log.hpp"
#include "ops/cuda/runtime/device_readings.hpp"
#include "profiler/cupti/collector.hpp"
#include "profiler/cupti/cupti_api.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Where CUPTI is looked for, in the words of load_cupti().
std::vector<std::string> cupti_candidates(std::span<const SearchStep> search);

// What a trace says that CUPTI does not know; each may be null.
struct BesidesCupti {
  std::shared_ptr<DeviceReadings> readings;
  std::shared_ptr<AllocationLog> allocations;
};

// CUPTI is loaded by begin() alone. `process` outlives the tracer; of one process there is one.
// `synchronise` waits for the device, or does nothing where there is none yet.
std::shared_ptr<DeviceTracer> make_cupti_tracer(std::function<Result<CuptiLibrary>()> load,
                                                CuptiProcess& process, GpuSynchronise synchronise,
                                                BesidesCupti besides = {});

}  // namespace bench::ops::cuda
