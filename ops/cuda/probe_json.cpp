// SPDX-License-Identifier: Apache-2.0
#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "ops/cuda/probe.hpp"

#include <fmt/format.h>

namespace bench::ops {

BENCH_FIELDS(LibraryReport, name, path, origin, version, reason, consequence, remedy, tried);

}  // namespace bench::ops

namespace bench::ops::cuda {

BENCH_FIELDS(RuntimeAnswers, status, status_name, status_text, devices, driver, runtime,
             visible_devices);
BENCH_FIELDS(NvmlProperties, ecc, mig, persistence, sm_clock_mhz, sm_clock_limit_mhz,
             memory_clock_mhz, memory_clock_limit_mhz, temperature_celsius, power_milliwatt,
             power_limit_milliwatt, performance_state, clock_reasons);
BENCH_FIELDS(DeviceProperties, index, name, major, minor, multiprocessors, memory_bytes, l2_bytes,
             clock_khz, memory_clock_khz, memory_bus_bits, bus_id, uuid, unusable, nvml_reason,
             cudnn_properties, nvml);

template <class Archive>
void fields(Archive& archive, JsonOf<Verdict> auto& verdict) {
  std::string availability(to_string(verdict.availability));
  archive.required("availability", availability);
  if constexpr (Archive::kReads) {
    // A later plugin may have further names.
    verdict.availability =
        enumerator_from_name<Availability>(availability).value_or(Availability::failed);
  }
  BENCH_MEMBERS(archive, verdict, reason, remedy);
}

namespace {

void probe_fields(auto& archive, JsonOf<ProbeReport> auto& report) {
  archive.constant("schema", kProbeSchema);
  BENCH_MEMBERS(archive, report, (answers, "runtime"), verdict, driver_version, architectures,
                operators, devices, libraries);
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
