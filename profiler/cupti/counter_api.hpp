// SPDX-License-Identifier: Apache-2.0
// CUPTI's functions for hardware counters, looked up at run time in the library that cupti_api.hpp
// has loaded. The functions of the host side (chips, metrics, passes) need neither driver nor
// device.
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

// One row per function: its name in the library and in CounterApi.
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

// Plain pointers, so that tests can insert their own functions.
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
