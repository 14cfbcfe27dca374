// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/plugin/runtime_probe.hpp"

#include "ops/cuda/availability.hpp"
#include "ops/cuda/nvml.hpp"
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/support_oracle.hpp"
#endif

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <utility>
#if __has_include(<cupti_version.h>)
#include <cupti_version.h>
#endif

namespace bench::ops::cuda {
namespace {

LibraryExpectations expectations() {
#ifdef CUPTI_API_VERSION
  return {CUPTI_API_VERSION};
#else
  return {};
#endif
}

// Returns an attribute of a device; nullopt if the runtime does not report it. Since CUDA 13,
// cudaDeviceProp has no clocks.
std::optional<std::int64_t> read_attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  if (cudaDeviceGetAttribute(&value, name, device) != cudaSuccess || value <= 0) {
    return std::nullopt;
  }
  return value;
}

std::string format_uuid(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (std::size_t index = 0; index < sizeof(uuid.bytes); ++index) {
    if (index == 4 || index == 6 || index == 8 || index == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[index]));
  }
  return text;
}

std::string read_bus_id(int device) {
  std::array<char, 32> text{};
  return cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device) == cudaSuccess
             ? std::string(text.data())
             : std::string();
}

DeviceProperties read_device_properties(int index) {
  DeviceProperties facts;
  facts.index = index;
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, index); error != cudaSuccess) {
    facts.unusable = fmt::format("its properties cannot be read: {} ({})",
                                 cudaGetErrorString(error), cudaGetErrorName(error));
    return facts;
  }
  facts.name = properties.name;
  facts.major = properties.major;
  facts.minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.clock_khz = read_attribute(cudaDevAttrClockRate, index);
  facts.memory_clock_khz = read_attribute(cudaDevAttrMemoryClockRate, index);
  facts.memory_bus_bits = read_attribute(cudaDevAttrGlobalMemoryBusWidth, index);
  facts.bus_id = read_bus_id(index);
  facts.uuid = format_uuid(properties.uuid);
  facts.unusable = code_unavailable_reason(BENCH_CUDA_ARCHITECTURES, facts.major, facts.minor);
  return facts;
}

void add_nvml(ProbeReport& report, std::span<const SearchStep> search) {
  const auto nvml = Nvml::open(search);
  if (nvml) report.driver_version = nvml->driver_version().value_or("");
  for (DeviceProperties& device : report.devices) {
    if (!nvml) {
      device.nvml_reason = nvml.error().reason;
      continue;
    }
    auto facts = nvml->facts(device.bus_id);
    if (facts) {
      device.nvml = *std::move(facts);
    } else {
      device.nvml_reason = facts.error().message();
    }
  }
}

#ifdef BENCH_HAS_CUDNN
void add_cudnn_properties(ProbeReport& report, std::span<const SearchStep> search) {
  if (report.devices.empty()) return;
  const auto api = load_cudnn(search);
  if (!api) return;
  for (DeviceProperties& device : report.devices) {
    if (auto json = read_device_json(*api, device.index)) {
      device.cudnn_properties = *std::move(json);
    }
  }
}
#else
void add_cudnn_properties(ProbeReport&, std::span<const SearchStep>) {}
#endif

}  // namespace

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return "";
  // The path of a program is relative if the program was started with a relative one.
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(info.dli_fname, nullptr),
                                                         &std::free);
  const std::string path = real ? real.get() : "";
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

RuntimeAnswers ask_runtime(const Variables& variables) {
  RuntimeAnswers answers;
  const cudaError_t status = cudaGetDeviceCount(&answers.devices);
  if (status != cudaSuccess) answers.devices = 0;
  answers.status = status;
  answers.status_name = cudaGetErrorName(status);
  answers.status_text = cudaGetErrorString(status);
  if (cudaDriverGetVersion(&answers.driver) != cudaSuccess) answers.driver = 0;
  if (cudaRuntimeGetVersion(&answers.runtime) != cudaSuccess) answers.runtime = 0;
  answers.visible_devices = variables("CUDA_VISIBLE_DEVICES");
  // Clears the error: the result contains it, and the next call must not report it again.
  static_cast<void>(cudaGetLastError());
  return answers;
}

ComputeCapability capability_here(const Variables& variables) {
  ComputeCapability capability;
  if (ask_runtime(variables).devices == 0) return kNoDevice;
  const bool is_known = cudaDeviceGetAttribute(&capability.major, cudaDevAttrComputeCapabilityMajor,
                                               0) == cudaSuccess &&
                        cudaDeviceGetAttribute(&capability.minor, cudaDevAttrComputeCapabilityMinor,
                                               0) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  return is_known ? capability : kNoDevice;
}

ProbeReport probe(ProbeExtent extent, std::span<const SearchStep> search,
                  const Variables& variables) {
  ProbeReport report;
  report.architectures = BENCH_CUDA_ARCHITECTURES;
  report.answers = ask_runtime(variables);
  report.verdict = decide(report.answers);
  for (int index = 0; index < report.answers.devices; ++index) {
    report.devices.push_back(read_device_properties(index));
  }
  if (report.verdict.availability == Availability::available) add_nvml(report, search);
  if (extent == ProbeExtent::libraries) {
    report.libraries = report_libraries(search, expectations());
    add_cudnn_properties(report, search);
  }
  return report;
}

}  // namespace bench::ops::cuda
