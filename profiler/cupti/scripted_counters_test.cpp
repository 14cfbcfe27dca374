// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/scripted_counters.hpp"

#include "profiler/cupti/synthetic_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace bench::test {
namespace {

using Supported = CUpti_Profiler_DeviceSupported_Params;

CounterScript* counter_script = nullptr;
decltype(&cuptiProfilerHostInitialize) real_host_initialize = nullptr;

CUpti_RangeProfiler_Object* profiler() {
  return reinterpret_cast<CUpti_RangeProfiler_Object*>(counter_script);
}

CUptiResult initialize(CUpti_Profiler_Initialize_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  return counter_script->called("initialize");
}
CUptiResult deinitialize(CUpti_Profiler_DeInitialize_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
  return counter_script->called("deinitialize");
}
CUptiResult device_supported(Supported* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  EXPECT_EQ(parameters->api, CUPTI_PROFILER_RANGE_PROFILING);
  for (const auto level :
       {&Supported::isSupported, &Supported::architecture, &Supported::sli, &Supported::vGpu,
        &Supported::confidentialCompute, &Supported::cmp, &Supported::wsl}) {
    parameters->*level = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  }
  if (counter_script->unsupported != nullptr) {
    parameters->*counter_script->unsupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
    parameters->isSupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  }
  return counter_script->called("device_supported");
}
CUptiResult chip_name(CUpti_Device_GetChipName_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  parameters->pChipName = counter_script->chip.c_str();
  return counter_script->called("chip_name");
}
CUptiResult availability(CUpti_Profiler_GetCounterAvailability_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  if (parameters->pCounterAvailabilityImage != nullptr) {
    EXPECT_EQ(parameters->counterAvailabilityImageSize, counter_script->availability.size());
    std::copy(counter_script->availability.begin(), counter_script->availability.end(),
              parameters->pCounterAvailabilityImage);
  }
  parameters->counterAvailabilityImageSize = counter_script->availability.size();
  return counter_script->called("availability");
}
// The real function would interpret a script's image as its own.
CUptiResult host_initialize(CUpti_Profiler_Host_Initialize_Params* parameters) {
  EXPECT_TRUE(std::equal(counter_script->availability.begin(), counter_script->availability.end(),
                         parameters->pCounterAvailabilityImage));
  parameters->pCounterAvailabilityImage = nullptr;
  return real_host_initialize(parameters);
}
CUptiResult enable(CUpti_RangeProfiler_Enable_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  parameters->pRangeProfilerObject = profiler();
  return counter_script->called("enable");
}
CUptiResult disable(CUpti_RangeProfiler_Disable_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  EXPECT_EQ(parameters->pRangeProfilerObject, profiler());
  return counter_script->called("disable");
}
CUptiResult data_size(CUpti_RangeProfiler_GetCounterDataSize_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  EXPECT_GE(parameters->maxNumRangeTreeNodes, parameters->maxNumOfRanges);
  EXPECT_GT(parameters->numMetrics, 0u);
  parameters->counterDataSize = 64;
  return counter_script->called("data_size");
}
CUptiResult initialize_data(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* parameters) {
  EXPECT_EQ(parameters->structSize,
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  EXPECT_EQ(parameters->counterDataSize, 64u);
  return counter_script->called("initialize_data");
}
CUptiResult set_config(CUpti_RangeProfiler_SetConfig_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  EXPECT_GT(parameters->configSize, 0u);
  EXPECT_EQ(parameters->counterDataImageSize, 64u);
  EXPECT_EQ(parameters->range, CUPTI_UserRange);
  EXPECT_EQ(parameters->replayMode, CUPTI_UserReplay);
  counter_script->passes = 0;
  return counter_script->called("set_config");
}
CUptiResult start(CUpti_RangeProfiler_Start_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  return counter_script->called("start");
}
CUptiResult push_range(CUpti_RangeProfiler_PushRange_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  EXPECT_STREQ(parameters->pRangeName, "bench");
  return counter_script->called("push");
}
CUptiResult pop_range(CUpti_RangeProfiler_PopRange_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  return counter_script->called("pop");
}
CUptiResult stop(CUpti_RangeProfiler_Stop_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  parameters->isAllPassSubmitted =
      ++counter_script->passes >= counter_script->passes_needed ? 1 : 0;
  return counter_script->called("stop");
}
CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  parameters->numOfRangeDropped = counter_script->dropped;
  return counter_script->called("decode");
}
CUptiResult data_info(CUpti_RangeProfiler_GetCounterDataInfo_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  parameters->numTotalRanges = counter_script->ranges;
  return counter_script->called("data_info");
}
CUptiResult evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* parameters) {
  EXPECT_EQ(parameters->structSize, CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  EXPECT_NE(parameters->pHostObject, nullptr);
  EXPECT_EQ(parameters->rangeIndex, 0u);
  for (std::size_t i = 0; i < parameters->numMetrics; ++i) {
    const auto known = counter_script->values.find(parameters->ppMetricNames[i]);
    parameters->pMetricValues[i] = known == counter_script->values.end() ? 0 : known->second;
  }
  return counter_script->called("evaluate");
}

}  // namespace

CUptiResult CounterScript::called(std::string call) {
  calls.push_back(std::move(call));
  const auto result = results.find(calls.back());
  return result == results.end() ? CUPTI_SUCCESS : result->second;
}

CounterLibrary scripted_counters(const CounterLibrary& library, CounterScript& next) {
  counter_script = &next;
  real_host_initialize = library.api.host_initialize;
  CounterLibrary scripted = library;
  scripted.api.initialize = initialize;
  scripted.api.deinitialize = deinitialize;
  scripted.api.device_supported = device_supported;
  scripted.api.chip_name = chip_name;
  scripted.api.availability = availability;
  scripted.api.host_initialize = host_initialize;
  scripted.api.enable = enable;
  scripted.api.disable = disable;
  scripted.api.data_size = data_size;
  scripted.api.initialize_data = initialize_data;
  scripted.api.set_config = set_config;
  scripted.api.start = start;
  scripted.api.push_range = push_range;
  scripted.api.pop_range = pop_range;
  scripted.api.stop = stop;
  scripted.api.decode = decode;
  scripted.api.data_info = data_info;
  scripted.api.evaluate = evaluate;
  return scripted;
}

CounterLibrary toolkit_counters() {
  auto counters = load_counter_library(toolkit_cupti());
  if (counters) return *counters;
  ADD_FAILURE() << counters.error().message();
  return {};
}

}  // namespace bench::test
