// SPDX-License-Identifier: Apache-2.0
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "ops/cuda/probe.hpp"

#include <fmt/format.h>

namespace bench::ops::cuda {

void fields(auto& archive, JsonOf<RuntimeAnswers> auto& answers) {
  archive.required("status", answers.status);
  archive.required("status_name", answers.status_name);
  archive.required("status_text", answers.status_text);
  archive.required("devices", answers.devices);
  archive.required("driver", answers.driver);
  archive.required("runtime", answers.runtime);
  archive.optional("visible_devices", answers.visible_devices);
}

void fields(auto& archive, JsonOf<NvmlProperties> auto& facts) {
  archive.optional("ecc", facts.ecc);
  archive.optional("mig", facts.mig);
  archive.optional("persistence", facts.persistence);
  archive.optional("sm_clock_mhz", facts.sm_clock_mhz);
  archive.optional("sm_clock_limit_mhz", facts.sm_clock_limit_mhz);
  archive.optional("memory_clock_mhz", facts.memory_clock_mhz);
  archive.optional("memory_clock_limit_mhz", facts.memory_clock_limit_mhz);
  archive.optional("temperature_celsius", facts.temperature_celsius);
  archive.optional("power_milliwatt", facts.power_milliwatt);
  archive.optional("power_limit_milliwatt", facts.power_limit_milliwatt);
  archive.optional("performance_state", facts.performance_state);
  archive.optional("clock_reasons", facts.clock_reasons);
}

void fields(auto& archive, JsonOf<DeviceProperties> auto& device) {
  archive.required("index", device.index);
  archive.required("name", device.name);
  archive.required("major", device.major);
  archive.required("minor", device.minor);
  archive.required("multiprocessors", device.multiprocessors);
  archive.required("memory_bytes", device.memory_bytes);
  archive.required("l2_bytes", device.l2_bytes);
  archive.optional("clock_khz", device.clock_khz);
  archive.optional("memory_clock_khz", device.memory_clock_khz);
  archive.optional("memory_bus_bits", device.memory_bus_bits);
  archive.required("bus_id", device.bus_id);
  archive.required("uuid", device.uuid);
  archive.required("unusable", device.unusable);
  archive.required("nvml_reason", device.nvml_reason);
  archive.required("cudnn_properties", device.cudnn_properties);
  archive.optional("nvml", device.nvml);
}

void fields(auto& archive, JsonOf<LibraryReport> auto& library) {
  archive.required("name", library.name);
  archive.required("path", library.path);
  archive.required("origin", library.origin);
  archive.required("version", library.version);
  archive.required("reason", library.reason);
  archive.required("consequence", library.consequence);
  archive.required("remedy", library.remedy);
  archive.required("tried", library.tried);
}

template <class Archive>
void fields(Archive& archive, JsonOf<Verdict> auto& verdict) {
  std::string availability(to_string(verdict.availability));
  archive.required("availability", availability);
  if constexpr (Archive::kReads) {
    // A later plugin may have further names.
    verdict.availability =
        enumerator_from_name<Availability>(availability).value_or(Availability::failed);
  }
  archive.required("reason", verdict.reason);
  archive.required("remedy", verdict.remedy);
}

namespace {

void probe_fields(auto& archive, JsonOf<ProbeReport> auto& report) {
  archive.constant("schema", kProbeSchema);
  archive.required("runtime", report.answers);
  archive.required("verdict", report.verdict);
  archive.required("driver_version", report.driver_version);
  archive.required("architectures", report.architectures);
  archive.required("operators", report.operators);
  archive.required("devices", report.devices);
  archive.required("libraries", report.libraries);
}

// Drivers define some of the numbers.
constexpr JsonRules kProbeRules{.numbers = JsonRules::Numbers::any};

}  // namespace

void fields(JsonWriter& writer, const ProbeReport& report) { probe_fields(writer, report); }
void fields(JsonReader& reader, ProbeReport& report) { probe_fields(reader, report); }

std::string format_probe(const ProbeReport& report) { return format_json(report); }

Result<ProbeReport> parse_probe(std::string_view text) {
  return read_json_document<ProbeReport>(text, kProbeSchema, kProbeRules);
}

Result<ProbeReport> parse_probe(JsonValue document) {
  return read_json_document<ProbeReport>(document, kProbeSchema, kProbeRules);
}

std::string format_capability(const DeviceProperties& device) {
  return fmt::format("compute capability {}.{}", device.major, device.minor);
}

}  // namespace bench::ops::cuda
