// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions for hardware counters, found at run time in the library that cupti_api.hpp has
// loaded. Those of the host side (chips, metrics, passes) need no driver and no device.
#pragma once

#include "base/result.hpp"
#include "profiler/cupti/cupti_api.hpp"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>
#include <string_view>

namespace bench {

// One row a function: its name in the library, and in CounterApi.
// clang-format off
#define BENCH_COUNTER_FUNCTIONS(row) \
  row(cuptiProfilerInitialize, initialize) \
  row(cuptiProfilerDeInitialize, deinitialize) \
  row(cuptiProfilerDeviceSupported, device_supported) \
  row(cuptiProfilerGetCounterAvailability, availability) \
  row(cuptiDeviceGetChipName, chip_name) \
  row(cuptiRangeProfilerEnable, enable) \
  row(cuptiRangeProfilerDisable, disable) \
  row(cuptiRangeProfilerSetConfig, set_config) \
  row(cuptiRangeProfilerGetCounterDataSize, data_size) \
  row(cuptiRangeProfilerCounterDataImageInitialize, initialize_data) \
  row(cuptiRangeProfilerStart, start) \
  row(cuptiRangeProfilerStop, stop) \
  row(cuptiRangeProfilerPushRange, push_range) \
  row(cuptiRangeProfilerPopRange, pop_range) \
  row(cuptiRangeProfilerDecodeData, decode) \
  row(cuptiRangeProfilerGetCounterDataInfo, data_info) \
  row(cuptiProfilerHostInitialize, host_initialize) \
  row(cuptiProfilerHostDeinitialize, host_deinitialize) \
  row(cuptiProfilerHostGetSupportedChips, chips) \
  row(cuptiProfilerHostGetBaseMetrics, base_metrics) \
  row(cuptiProfilerHostConfigAddMetrics, add_metrics) \
  row(cuptiProfilerHostGetConfigImageSize, config_size) \
  row(cuptiProfilerHostGetConfigImage, config_image) \
  row(cuptiProfilerHostGetNumOfPasses, passes) \
  row(cuptiProfilerHostEvaluateToGpuValues, evaluate)
// clang-format on

// Plain pointers, so that tests put functions of theirs in.
struct CounterApi {
#define BENCH_COUNTER_MEMBER(function, member) decltype(&function) member = nullptr;
  BENCH_COUNTER_FUNCTIONS(BENCH_COUNTER_MEMBER)
#undef BENCH_COUNTER_MEMBER
};

struct CounterLibrary {
  CuptiApi cupti;
  CounterApi api;  // all pointers are set
  std::string path;
};

// Also loads libnvperf_host.so, which CUPTI asks the loader for by its bare name, from CUPTI's
// folder: wheels have both in a folder that no loader looks into. Errors: CUPTI has no such
// functions, libnvperf_host.so is nowhere.
Result<CounterLibrary> load_counter_library(const CuptiLibrary& cupti);

// Why there are no counters. not_permitted: for administrators alone; not_supported: by this
// device as it is; occupied: another profiler has them; failed: anything else.
enum class CounterObstacle { not_permitted, not_supported, occupied, failed };

struct CounterRefusal {
  CounterObstacle obstacle = CounterObstacle::failed;
  Error error;
};

// What the call named `what` did not do, and what helps.
CounterRefusal counter_refusal(const CuptiApi& api, std::string_view what, CUptiResult result);

}  // namespace bench
