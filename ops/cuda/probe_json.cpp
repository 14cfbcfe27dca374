// SPDX-License-Identifier: Apache-2.0
#include "base/json_document.hpp"
#include "ops/cuda/probe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <type_traits>

namespace bench::ops::cuda {
namespace {

using nlohmann::json;
using Document = nlohmann::ordered_json;

// Writes one row per member. Reader has the same functions. Omits optional members without a value.
class Writer {
 public:
  explicit Writer(Document& object) : object_(object) {}
  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) {
    if (value) object_[key] = *value;
  }

 private:
  Document& object_;
};

// Throws nlohmann's exceptions, which parse_probe catches.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}
  template <class T>
  void operator()(const char* key, T& value) {
    value = object_.at(key).get<T>();
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) {
    if (object_.contains(key)) value = object_.at(key).get<T>();
  }

 private:
  const json& object_;
};

template <class Visit, class Answers>
void visit_answers(Visit&& visit, Answers& answers) {
  visit("status", answers.status);
  visit("status_name", answers.status_name);
  visit("status_text", answers.status_text);
  visit("devices", answers.devices);
  visit("driver", answers.driver);
  visit("runtime", answers.runtime);
  visit("visible_devices", answers.visible_devices);
}

template <class Visit, class Facts>
void visit_nvml(Visit&& visit, Facts& facts) {
  visit("ecc", facts.ecc);
  visit("mig", facts.mig);
  visit("persistence", facts.persistence);
  visit("sm_clock_mhz", facts.sm_clock_mhz);
  visit("sm_clock_limit_mhz", facts.sm_clock_limit_mhz);
  visit("memory_clock_mhz", facts.memory_clock_mhz);
  visit("memory_clock_limit_mhz", facts.memory_clock_limit_mhz);
  visit("temperature_celsius", facts.temperature_celsius);
  visit("power_milliwatt", facts.power_milliwatt);
  visit("power_limit_milliwatt", facts.power_limit_milliwatt);
  visit("performance_state", facts.performance_state);
  visit("clock_reasons", facts.clock_reasons);
}

template <class Visit, class Device>
void visit_device(Visit&& visit, Device& device) {
  visit("index", device.index);
  visit("name", device.name);
  visit("major", device.major);
  visit("minor", device.minor);
  visit("multiprocessors", device.multiprocessors);
  visit("memory_bytes", device.memory_bytes);
  visit("l2_bytes", device.l2_bytes);
  visit("clock_khz", device.clock_khz);
  visit("memory_clock_khz", device.memory_clock_khz);
  visit("memory_bus_bits", device.memory_bus_bits);
  visit("bus_id", device.bus_id);
  visit("uuid", device.uuid);
  visit("unusable", device.unusable);
  visit("nvml_reason", device.nvml_reason);
  visit("cudnn_properties", device.cudnn_properties);
}

template <class Visit, class Library>
void visit_library(Visit&& visit, Library& library) {
  visit("name", library.name);
  visit("path", library.path);
  visit("origin", library.origin);
  visit("version", library.version);
  visit("reason", library.reason);
  visit("consequence", library.consequence);
  visit("remedy", library.remedy);
  visit("tried", library.tried);
}

Document device_json(const DeviceFacts& device) {
  Document object;
  visit_device(Writer(object), device);
  if (device.nvml) {
    Document facts = Document::object();
    visit_nvml(Writer(facts), *device.nvml);
    object["nvml"] = std::move(facts);
  }
  return object;
}

DeviceFacts read_device(const json& object) {
  DeviceFacts device;
  visit_device(Reader(object), device);
  if (object.contains("nvml")) {
    device.nvml.emplace();
    visit_nvml(Reader(object.at("nvml")), *device.nvml);
  }
  return device;
}

ProbeReport read_report(const json& document) {
  ProbeReport report;
  visit_answers(Reader(document.at("runtime")), report.answers);
  const json& verdict = document.at("verdict");
  const auto availability = availability_from_name(verdict.at("availability").get<std::string>());
  report.verdict = {availability.value_or(Availability::failed), verdict.at("reason"),
                    verdict.at("remedy")};
  report.driver_version = document.at("driver_version").get<std::string>();
  report.architectures = document.at("architectures").get<std::string>();
  report.operators = document.at("operators").get<std::vector<std::string>>();
  for (const json& device : document.at("devices")) report.devices.push_back(read_device(device));
  for (const json& row : document.at("libraries")) {
    LibraryReport library;
    visit_library(Reader(row), library);
    report.libraries.push_back(std::move(library));
  }
  return report;
}

}  // namespace

std::string format_probe(const ProbeReport& report) {
  Document document = {{"schema", kProbeSchema}};
  Document runtime = Document::object();
  visit_answers(Writer(runtime), report.answers);
  document["runtime"] = std::move(runtime);
  document["verdict"] = {{"availability", availability_name(report.verdict.availability)},
                         {"reason", report.verdict.reason},
                         {"remedy", report.verdict.remedy}};
  document["driver_version"] = report.driver_version;
  document["architectures"] = report.architectures;
  document["operators"] = report.operators;
  document["devices"] = Document::array();
  for (const DeviceFacts& device : report.devices) {
    document["devices"].push_back(device_json(device));
  }
  document["libraries"] = Document::array();
  for (const LibraryReport& library : report.libraries) {
    Document row;
    visit_library(Writer(row), library);
    document["libraries"].push_back(std::move(row));
  }
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

Result<ProbeReport> parse_probe(std::string_view text) {
  return read_json_document(text, kProbeSchema, read_report);
}

std::string capability_text(const DeviceFacts& device) {
  return fmt::format("compute capability {}.{}", device.major, device.minor);
}

}  // namespace bench::ops::cuda
