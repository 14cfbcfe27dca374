// SPDX-License-Identifier: Apache-2.0
#include "profiler/cupti/counter_host.hpp"

#include "profiler/cupti/counter_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace bench {
namespace {

CounterError evaluation_error(const CounterLibrary& library, std::string_view what,
                              CUptiResult result) {
  return counter_error(library.cupti, what, result);
}

}  // namespace

std::vector<const char*> CounterConfig::metric_pointers() const {
  std::vector<const char*> pointers;
  for (const std::string& metric : metrics_) pointers.push_back(metric.c_str());
  return pointers;
}

Result<std::vector<double>, CounterError> CounterConfig::evaluate(
    std::span<const std::uint8_t> data) const {
  std::vector<const char*> names = metric_pointers();
  std::vector<double> values(names.size());
  CUpti_Profiler_Host_EvaluateToGpuValues_Params parameters{};
  parameters.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  parameters.pHostObject = object_.get();
  parameters.pCounterDataImage = data.data();
  parameters.counterDataImageSize = data.size();
  parameters.ppMetricNames = names.data();
  parameters.numMetrics = names.size();
  parameters.pMetricValues = values.data();
  const CUptiResult result = library_->api.evaluate(&parameters);
  if (result != CUPTI_SUCCESS)
    return evaluation_error(*library_, "cannot evaluate counters", result);
  return values;
}

Result<std::vector<std::string>, CounterError> supported_chips(const CounterLibrary& library) {
  CUpti_Profiler_Host_GetSupportedChips_Params parameters{};
  parameters.structSize = CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE;
  const CUptiResult result = library.api.chips(&parameters);
  if (result != CUPTI_SUCCESS) return evaluation_error(library, "cannot list chips", result);
  const std::span<const char* const> names(parameters.ppChipNames, parameters.numChips);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<CounterHost, CounterError> CounterHost::open(const CounterLibrary& library, std::string chip,
                                                    CounterAvailability availability) {
  CounterHost host(library, std::move(chip), std::move(availability));
  BENCH_ASSIGN_OR_RETURN(const HostObject object, host.object());
  if (Status status = host.enumerate(object.get()); !status) {
    return CounterError{CounterObstacle::not_supported, std::move(status).error()};
  }
  return host;
}

// Creates a new object for each set of metrics: after failing to add one metric, an object cannot
// be reused.
Result<HostObject, CounterError> CounterHost::object() const {
  CUpti_Profiler_Host_Initialize_Params parameters{};
  parameters.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  parameters.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  parameters.pChipName = chip_.c_str();
  parameters.pCounterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  const CUptiResult result = library_->api.host_initialize(&parameters);
  if (result != CUPTI_SUCCESS) {
    CounterError refused = evaluation_error(
        *library_, fmt::format("CUPTI does not support the chip {}", chip_), result);
    if (refused.obstacle == CounterObstacle::failed) {
      refused.obstacle = CounterObstacle::not_supported;
    }
    return refused;
  }
  const auto end = [api = library_->api](CUpti_Profiler_Host_Object* object) {
    CUpti_Profiler_Host_Deinitialize_Params done{};
    done.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
    done.pHostObject = object;
    api.host_deinitialize(&done);
  };
  return HostObject(parameters.pHostObject, end);
}

Status CounterHost::enumerate(CUpti_Profiler_Host_Object* object) {
  constexpr std::array kTypes = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO,
                                 CUPTI_METRIC_TYPE_THROUGHPUT};
  for (const CUpti_MetricType type : kTypes) {
    CUpti_Profiler_Host_GetBaseMetrics_Params parameters{};
    parameters.structSize = CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE;
    parameters.pHostObject = object;
    parameters.metricType = type;
    const CUptiResult result = library_->api.base_metrics(&parameters);
    if (result != CUPTI_SUCCESS) {
      const std::string what = fmt::format("cannot enumerate the metrics of {}", chip_);
      return evaluation_error(*library_, what, result).error;
    }
    const std::span<const char*> names(parameters.ppMetricNames, parameters.numMetrics);
    base_metrics_.insert(names.begin(), names.end());
  }
  return Done{};
}

bool CounterHost::offers(std::string_view metric) const {
  return base_metrics_.contains(base_metric(metric)) && configure({std::string(metric)}).ok();
}

// Schedules the metrics. Only this call completes the image.
CUptiResult CounterConfig::schedule() {
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = object_.get();
  CUptiResult result = library_->api.config_size(&size);
  if (result != CUPTI_SUCCESS) return result;
  image_.resize(size.configImageSize);
  CUpti_Profiler_Host_GetConfigImage_Params image{};
  image.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  image.pHostObject = object_.get();
  image.configImageSize = image_.size();
  image.pConfigImage = image_.data();
  result = library_->api.config_image(&image);
  if (result != CUPTI_SUCCESS) return result;
  CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
  passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  passes.configImageSize = image_.size();
  passes.pConfigImage = image_.data();
  result = library_->api.passes(&passes);
  passes_ = passes.numOfPasses;
  return result;
}

Result<CounterConfig, CounterError> CounterHost::configure(std::vector<std::string> metrics) const {
  CounterConfig config;
  config.library_ = library_;
  config.metrics_ = std::move(metrics);
  BENCH_ASSIGN_OR_RETURN(config.object_, object());
  std::vector<const char*> names = config.metric_pointers();
  CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
  add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  add.pHostObject = config.object_.get();
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  CUptiResult result = library_->api.add_metrics(&add);
  if (result == CUPTI_SUCCESS) result = config.schedule();
  if (result == CUPTI_SUCCESS) return config;
  return evaluation_error(*library_, fmt::format("{} cannot count the requested metrics", chip_),
                          result);
}

}  // namespace bench
