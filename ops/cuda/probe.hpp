// SPDX-License-Identifier: Apache-2.0
// What the CUDA plugin says of a machine, and its JSON document: made in a child process by the
// plugin, read by the coordinator, `bench doctor` and tests. Absent is absent, never 0.
#pragma once

#include "base/result.hpp"
#include "ops/cuda/availability.hpp"
#include "ops/cuda/library_report.hpp"
#include "ops/cuda/nvml.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

inline constexpr std::string_view kProbeSchema = "bench.cuda_probe/1";

struct DeviceFacts {
  int index = 0;  // of the CUDA runtime: after CUDA_VISIBLE_DEVICES
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::optional<std::int64_t> clock_khz, memory_clock_khz, memory_bus_bits;  // by attribute
  std::string bus_id;                                                        // "0000:1b:00.0"
  std::string uuid;                                                          // "GPU-..."
  // Why no kernel of this build can run there although the device is: too old an architecture.
  std::string unusable;
  std::optional<NvmlFacts> nvml;
  std::string nvml_reason;  // where `nvml` is absent and NVML is there
  // As cuDNN describes it to itself, JSON; with ProbeExtent::libraries, empty without cuDNN.
  std::string cudnn_properties;
  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};

// libraries: loads every one of them to tell its version, which takes up to a second.
enum class ProbeExtent { devices, libraries };

struct ProbeReport {
  RuntimeAnswers answers;
  Verdict verdict;
  std::string driver_version;  // NVML's "580.82.07"; empty where it does not say
  std::string architectures;   // compiled for: "75-real;90-virtual"
  std::vector<DeviceFacts> devices;
  std::vector<LibraryReport> libraries;  // with ProbeExtent::libraries
  std::vector<std::string> operators;    // that the plugin has a kernel of
};

// One line without newline.
std::string format_probe(const ProbeReport& report);
// Error: no such document, with what is wrong.
Result<ProbeReport> parse_probe(std::string_view text);

// "compute capability 9.0".
std::string capability_text(const DeviceFacts& device);

}  // namespace bench::ops::cuda
