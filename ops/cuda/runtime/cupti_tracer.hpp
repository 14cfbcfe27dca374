// SPDX-License-Identifier: Apache-2.0
// Traces a device with CUPTI: DeviceTracer over profiler/cupti.
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

// Returns the paths at which to search CUPTI, as load_cupti() expects them.
std::vector<std::string> cupti_candidates(std::span<const SearchStep> search);

// Information for a trace that CUPTI does not have. Each may be null.
struct AdditionalSources {
  std::shared_ptr<DeviceReadings> readings;
  std::shared_ptr<AllocationLog> allocations;
};

// Only begin() loads CUPTI. `process` must outlive the tracer; one tracer per process.
// `synchronise` waits for the device, or does nothing if there is none yet.
std::shared_ptr<DeviceTracer> make_cupti_tracer(std::function<Result<CuptiLibrary>()> load,
                                                CuptiProcess& process, GpuSynchronise synchronise,
                                                AdditionalSources additional_sources = {});

}  // namespace bench::ops::cuda
