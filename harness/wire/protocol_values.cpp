// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/protocol_values.hpp"

#include <nlohmann/json.hpp>

#include <limits>

namespace bench {

using nlohmann::json;

namespace {

// JSON has no NaN; null represents it.
json to_json(const std::vector<double>& values) {
  json list = json::array();
  for (const double value : values) list.push_back(value);
  return list;
}
std::vector<double> doubles(const json& list) {
  std::vector<double> values;
  values.reserve(list.size());
  for (const json& value : list) {
    values.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                     : value.get<double>());
  }
  return values;
}

void put(const SampleRemarks& remarks, const char* name, json& message) {
  if (remarks.count == 0) return;
  message[name] = {{"count", remarks.count}, {"reasons", remarks.reasons}};
}
SampleRemarks sample_remarks(const json& message, const char* name) {
  if (!message.contains(name)) return {};
  const json& value = message.at(name);
  return {value.at("count").get<std::int64_t>(),
          value.at("reasons").get<std::map<std::string, std::int64_t>>()};
}

}  // namespace

Nanoseconds nanoseconds(const json& value) { return Nanoseconds(value.get<std::int64_t>()); }

json to_json(const std::vector<Nanoseconds>& list) {
  json values = json::array();
  for (const Nanoseconds time : list) values.push_back(time.count());
  return values;
}
std::vector<Nanoseconds> times(const json& list) {
  std::vector<Nanoseconds> result;
  result.reserve(list.size());
  for (const json& time : list) result.push_back(nanoseconds(time));
  return result;
}

void put(const DeviceSamples& samples, json& message) {
  if (!samples.host_launch.empty()) message["host_launch_ns"] = to_json(samples.host_launch);
  if (!samples.clock_hz.empty()) message["clock_hz"] = samples.clock_hz;
  if (samples.sample_method) message["sample_method"] = *samples.sample_method;
  if (!samples.details.empty()) message["details"] = samples.details;
  put(samples.voided, "voided", message);
  put(samples.throttled, "throttled", message);
  put(samples.unsteady_clock, "unsteady_clock", message);
}
DeviceSamples device_samples(const json& message) {
  DeviceSamples samples;
  if (message.contains("host_launch_ns")) samples.host_launch = times(message.at("host_launch_ns"));
  samples.clock_hz = message.value("clock_hz", samples.clock_hz);
  if (message.contains("sample_method")) {
    samples.sample_method = message.at("sample_method").get<std::string>();
  }
  samples.details = message.value("details", samples.details);
  samples.voided = sample_remarks(message, "voided");
  samples.throttled = sample_remarks(message, "throttled");
  samples.unsteady_clock = sample_remarks(message, "unsteady_clock");
  return samples;
}

json to_json(const OutputSample& sample) {
  return {{"digest", sample.digest}, {"values", to_json(sample.values)}};
}
OutputSample output_sample(const json& value) {
  return {value.at("digest").get<std::string>(), doubles(value.at("values"))};
}

json to_json(const MemoryUse& memory) {
  json object = {{"peak_bytes", memory.peak.count},
                 {"weights_bytes", memory.weights.count},
                 {"workspace_bytes", memory.workspace.count}};
  if (memory.activations) object["activations_bytes"] = memory.activations->count;
  return object;
}
MemoryUse memory_use(const json& value) {
  MemoryUse memory{{value.at("peak_bytes").get<std::int64_t>()},
                   {value.at("weights_bytes").get<std::int64_t>()},
                   {value.at("workspace_bytes").get<std::int64_t>()}};
  if (value.contains("activations_bytes")) {
    memory.activations = Bytes{value.at("activations_bytes").get<std::int64_t>()};
  }
  return memory;
}

json to_json(const std::vector<ops::KernelStep>& steps) {
  json list = json::array();
  for (const ops::KernelStep& step : steps) {
    list.push_back({{"node", step.node},
                    {"kind", step.kind},
                    {"implementation", step.implementation},
                    {"layouts", step.layouts},
                    {"met", step.met}});
  }
  return list;
}
std::vector<ops::KernelStep> kernel_steps(const json& list) {
  std::vector<ops::KernelStep> steps;
  for (const json& step : list) {
    steps.push_back({step.at("node").get<std::string>(), step.at("kind").get<std::string>(),
                     step.at("implementation").get<std::string>(),
                     step.at("layouts").get<std::string>(),
                     step.at("met").get<ops::InputLayouts>()});
  }
  return steps;
}

json to_json(const ops::LibraryInfo& library) {
  return {{"name", library.name},
          {"version", library.version},
          {"path", library.path},
          {"detail", library.detail}};
}
ops::LibraryInfo library_info(const json& value) {
  return {value.at("name").get<std::string>(), value.at("version").get<std::string>(),
          value.at("path").get<std::string>(), value.at("detail").get<std::string>()};
}

json to_json(const std::vector<ops::LibraryInfo>& libraries) {
  json list = json::array();
  for (const ops::LibraryInfo& library : libraries) list.push_back(to_json(library));
  return list;
}
std::vector<ops::LibraryInfo> library_infos(const json& message, const char* key) {
  std::vector<ops::LibraryInfo> libraries;
  if (!message.contains(key)) return libraries;
  for (const json& library : message.at(key)) libraries.push_back(library_info(library));
  return libraries;
}

json to_json(const Canaries& canaries) {
  return {{"fma_ns", canaries.fma.count()},
          {"l2_ns", canaries.l2.count()},
          {"dram_ns", canaries.dram.count()},
          {"timer_ns", canaries.timer.count()}};
}
Canaries canaries(const json& value) {
  return {nanoseconds(value.at("fma_ns")), nanoseconds(value.at("l2_ns")),
          nanoseconds(value.at("dram_ns")), nanoseconds(value.at("timer_ns"))};
}

}  // namespace bench
