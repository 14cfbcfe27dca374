// SPDX-License-Identifier: Apache-2.0
#include "harness/host/cuda_status.hpp"

#include "base/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;
using ops::cuda::ProbeExtent;

constexpr std::string_view kStatusSchema = "bench.worker_probe/1";
constexpr std::string_view kBackends[] = {"cudnn", "cublaslt", "cublas"};
// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kExtentNames = {"devices", "libraries"};

CudaStatus read_status(const json& document) {
  CudaStatus status;
  status.plugin = document.at("plugin").get<std::string>();
  if (document.contains("abi")) status.abi = document.at("abi").get<int>();
  status.version = document.at("version").get<std::string>();
  status.reason = document.at("reason").get<std::string>();
  status.remedy = document.at("remedy").get<std::string>();
  if (document.contains("report")) {
    auto report = ops::cuda::parse_probe(document.at("report").dump());
    if (report) {
      status.report = *std::move(report);
    } else {
      status.reason = report.error().message();
    }
  }
  return status;
}

// One device that can run the plugin's kernels is enough.
std::optional<std::string> why_no_device(const ops::cuda::ProbeReport& report) {
  if (report.verdict.availability != ops::cuda::Availability::available) {
    return report.verdict.reason;
  }
  std::vector<std::string> unusable_devices;
  for (const ops::cuda::DeviceFacts& device : report.devices) {
    if (device.unusable.empty()) return std::nullopt;
    unusable_devices.push_back(fmt::format("{}: {}", device.name, device.unusable));
  }
  return fmt::format("{}", fmt::join(unusable_devices, "; "));
}

}  // namespace

CudaStatus without_report(std::string plugin, std::string reason, std::string remedy) {
  CudaStatus status;
  status.plugin = std::move(plugin);
  status.reason = std::move(reason);
  status.remedy = std::move(remedy);
  return status;
}

std::string format_cuda_status(const CudaStatus& status) {
  json document = {{"schema", kStatusSchema},
                   {"plugin", status.plugin},
                   {"version", status.version},
                   {"reason", status.reason},
                   {"remedy", status.remedy}};
  if (status.abi) document["abi"] = *status.abi;
  if (status.report) document["report"] = json::parse(ops::cuda::format_probe(*status.report));
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CudaStatus> parse_cuda_status(std::string_view text) {
  return read_json_document(text, kStatusSchema, read_status);
}

std::string_view name_of(ProbeExtent extent) {
  return kExtentNames[static_cast<std::size_t>(extent)];
}

std::optional<ProbeExtent> probe_extent_from_name(std::string_view name) {
  const auto found = std::ranges::find(kExtentNames, name);
  if (found == kExtentNames.end()) return std::nullopt;
  return static_cast<ProbeExtent>(found - kExtentNames.begin());
}

std::optional<std::string> why_no_cuda(const CudaStatus& status) {
  if (!status.report) return fmt::format("no CUDA device: {}", status.reason);
  if (const auto reason = why_no_device(*status.report)) {
    return fmt::format("no CUDA device: {}", *reason);
  }
  if (status.report->operators.empty()) {
    return std::string("no CUDA kernels: the CUDA plugin of this build contains no kernels");
  }
  return std::nullopt;
}

std::span<const std::string_view> cuda_backend_names() { return kBackends; }

std::map<std::string, std::string> gpu_details(const CudaStatus& status) {
  std::map<std::string, std::string> details;
  if (!status.report || why_no_device(*status.report)) return details;
  const auto device = std::ranges::find_if(
      status.report->devices, [](const ops::cuda::DeviceFacts& d) { return d.unusable.empty(); });
  if (device == status.report->devices.end()) return details;
  const auto put = [&](const char* name, const auto& value) {
    if (value) details[name] = fmt::format("{}", *value);
  };
  const auto put_mode = [&](const char* name, const std::optional<bool>& on) {
    if (on) details[name] = *on ? "on" : "off";
  };
  details["gpu.name"] = device->name;
  details["gpu.compute_capability"] = fmt::format("{}.{}", device->major, device->minor);
  details["gpu.multiprocessors"] = fmt::format("{}", device->multiprocessors);
  details["gpu.memory_bytes"] = fmt::format("{}", device->memory_bytes);
  details["gpu.l2_bytes"] = fmt::format("{}", device->l2_bytes);
  details["gpu.uuid"] = device->uuid;
  details["gpu.driver"] = status.report->driver_version;
  details["gpu.count"] = fmt::format("{}", status.report->devices.size());
  put("gpu.clock_khz", device->clock_khz);
  put("gpu.memory_clock_khz", device->memory_clock_khz);
  if (device->nvml) {
    const ops::cuda::NvmlFacts& nvml = *device->nvml;
    put_mode("gpu.ecc", nvml.ecc);
    put_mode("gpu.mig", nvml.mig);
    put_mode("gpu.persistence", nvml.persistence);
    put("gpu.sm_clock_limit_mhz", nvml.sm_clock_limit_mhz);
    put("gpu.memory_clock_limit_mhz", nvml.memory_clock_limit_mhz);
    put("gpu.power_limit_milliwatt", nvml.power_limit_milliwatt);
  }
  std::erase_if(details, [](const auto& fact) { return fact.second.empty(); });
  return details;
}

}  // namespace bench
