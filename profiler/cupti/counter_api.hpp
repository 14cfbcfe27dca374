// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions for hardware counters, looked up at run time in the library that cupti_api.hpp
// has loaded. The functions of the host side (chips, metrics, passes) need neither driver nor
// device.
#pragma once

#include "base/function_table.hpp"
#include "profiler/cupti/cupti_api.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>
#include <string_view>

namespace bench {

// Plain pointers, so that tests can insert their own functions.
struct CounterApi {
  BENCH_FUNCTIONS(
      CounterApi, (initialize, cuptiProfilerInitialize), (deinitialize, cuptiProfilerDeInitialize),
      (device_supported, cuptiProfilerDeviceSupported),
      (availability, cuptiProfilerGetCounterAvailability), (chip_name, cuptiDeviceGetChipName),
      (enable, cuptiRangeProfilerEnable), (disable, cuptiRangeProfilerDisable),
      (set_config, cuptiRangeProfilerSetConfig), (data_size, cuptiRangeProfilerGetCounterDataSize),
      (initialize_data, cuptiRangeProfilerCounterDataImageInitialize),
      (start, cuptiRangeProfilerStart), (stop, cuptiRangeProfilerStop),
      (push_range, cuptiRangeProfilerPushRange), (pop_range, cuptiRangeProfilerPopRange),
      (decode, cuptiRangeProfilerDecodeData), (data_info, cuptiRangeProfilerGetCounterDataInfo),
      (host_initialize, cuptiProfilerHostInitialize),
      (host_deinitialize, cuptiProfilerHostDeinitialize),
      (chips, cuptiProfilerHostGetSupportedChips), (base_metrics, cuptiProfilerHostGetBaseMetrics),
      (add_metrics, cuptiProfilerHostConfigAddMetrics),
      (config_size, cuptiProfilerHostGetConfigImageSize),
      (config_image, cuptiProfilerHostGetConfigImage), (passes, cuptiProfilerHostGetNumOfPasses),
      (evaluate, cuptiProfilerHostEvaluateToGpuValues));
};

struct CounterLibrary {
  CuptiApi cupti;
  CounterApi api;  // all pointers are set
  std::string path;
};

// Also loads libnvperf_host.so from CUPTI's directory. CUPTI requests it from the loader by its
// bare name, but wheels install both in a directory that no loader searches. Returns an error if
// CUPTI lacks these functions or libnvperf_host.so is not found.
Result<CounterLibrary> load_counter_library(const CuptiLibrary& cupti);

// Why counters are unavailable. not_permitted: only administrators may read them. not_supported:
// not by this device in its current configuration. occupied: another profiler uses them. failed:
// anything else.
enum class CounterObstacle { not_permitted, not_supported, occupied, failed };

struct CounterError {
  CounterObstacle obstacle = CounterObstacle::failed;
  Error error;
};

// Describes the failure of the call named `what`, and a remedy.
CounterError counter_error(const CuptiApi& api, std::string_view what, CUptiResult result);

}  // namespace bench
