// SPDX-License-Identifier: Apache-2.0
// The CUDA plugin's report about a machine, and its JSON document. The plugin creates the report in
// a child process. The coordinator, `bench doctor` and tests read it. Unknown values are nullopt,
// never 0.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "ops/cuda/availability.hpp"
#include "ops/cuda/library_report.hpp"
#include "ops/cuda/nvml.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {
class JsonReader;
class JsonValue;
class JsonWriter;
}  // namespace bench

namespace bench::ops::cuda {

inline constexpr std::string_view kProbeSchema = "bench.cuda_probe/1";

struct DeviceProperties {
  int index = 0;  // index in the CUDA runtime, after CUDA_VISIBLE_DEVICES
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  // from device attributes
  std::optional<std::int64_t> clock_khz, memory_clock_khz, memory_bus_bits;
  std::string bus_id;  // "0000:1b:00.0"
  std::string uuid;    // "GPU-..."
  // Why this build's kernels cannot run on the device, for example because its architecture is too
  // old. Empty if they can.
  std::string unusable;
  std::optional<NvmlProperties> nvml;
  std::string nvml_reason;  // set if `nvml` is nullopt although NVML was found
  // cuDNN's own description of the device as JSON. Set with ProbeExtent::libraries; empty without
  // cuDNN.
  std::string cudnn_properties;
  friend bool operator==(const DeviceProperties&, const DeviceProperties&) = default;
};

// devices: probes only the devices. libraries: also loads each library to read its version, which
// takes up to a second.
BENCH_ENUM(ProbeExtent, devices, libraries);

struct ProbeReport {
  RuntimeAnswers answers;
  Verdict verdict;
  std::string driver_version;  // NVML's "580.82.07"; empty if NVML does not report it
  std::string architectures;   // architectures compiled for: "75-real;90-virtual"
  std::vector<DeviceProperties> devices;
  std::vector<LibraryReport> libraries;  // with ProbeExtent::libraries
  std::vector<std::string> operators;    // operators that the plugin has a kernel for
};

// Returns one line without a newline.
std::string format_probe(const ProbeReport& report);
// Error: the text is not a valid document, with the reason.
Result<ProbeReport> parse_probe(std::string_view text);
// The same for a document that is a member of another one (base/json_reader.hpp,
// base/json_writer.hpp).
Result<ProbeReport> parse_probe(JsonValue document);
void fields(JsonWriter& writer, const ProbeReport& report);
void fields(JsonReader& reader, ProbeReport& report);

// Formats "compute capability 9.0".
std::string format_capability(const DeviceProperties& device);

}  // namespace bench::ops::cuda
