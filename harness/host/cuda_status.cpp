// SPDX-License-Identifier: Apache-2.0
#include "harness/host/cuda_status.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace bench {

constexpr std::string_view kStatusSchema = "bench.worker_probe/1";

// Lists the JSON fields except `report`, which is a separate document.
void fields(auto& archive, JsonOf<CudaStatus> auto& status) {
  archive.constant("schema", kStatusSchema);
  BENCH_MEMBERS(archive, status, plugin, abi, version, reason, remedy);
}

namespace {

using ops::cuda::ProbeExtent;

constexpr std::string_view kBackends[] = {"cudnn", "cublaslt", "cublas"};

// Returns why no device can run the plugin's kernels. Returns nullopt if at least one device can.
std::optional<std::string> no_device_reason(const ops::cuda::ProbeReport& report) {
  if (report.verdict.availability != ops::cuda::Availability::available) {
    return report.verdict.reason;
  }
  std::vector<std::string> unusable_devices;
  for (const ops::cuda::DeviceProperties& device : report.devices) {
    if (device.unusable.empty()) return std::nullopt;
    unusable_devices.push_back(fmt::format("{}: {}", device.name, device.unusable));
  }
  return fmt::format("{}", fmt::join(unusable_devices, "; "));
}

}  // namespace

CudaStatus make_status_without_report(std::string plugin, std::string reason, std::string remedy) {
  CudaStatus status;
  status.plugin = std::move(plugin);
  status.reason = std::move(reason);
  status.remedy = std::move(remedy);
  return status;
}

std::string format_cuda_status(const CudaStatus& status) {
  return json_object([&](JsonWriter& writer) {
    fields(writer, status);
    writer.optional("report", status.report);
  });
}

Result<CudaStatus> parse_cuda_status(std::string_view text) {
  BENCH_ASSIGN_OR_RETURN(CudaStatus status, read_json_document<CudaStatus>(text, kStatusSchema));
  BENCH_ASSIGN_OR_RETURN(const JsonDocument document, parse_json(text));
  const auto index = document.root().find("report");
  if (!index) return status;
  // A plugin of another version may give a report that this program cannot read.
  auto report = ops::cuda::parse_probe(document.root().member(*index));
  if (report.ok()) {
    status.report = *std::move(report);
  } else {
    status.reason = report.error().message();
  }
  return status;
}

std::optional<std::string> cuda_unavailable_reason(const CudaStatus& status) {
  if (!status.report) return fmt::format("no CUDA device: {}", status.reason);
  if (const auto reason = no_device_reason(*status.report)) {
    return fmt::format("no CUDA device: {}", *reason);
  }
  if (status.report->operators.empty()) {
    return std::string("no CUDA kernels: the CUDA plugin of this build contains no kernels");
  }
  return std::nullopt;
}

std::span<const std::string_view> cuda_backend_names() { return kBackends; }
bool is_cuda_backend(std::string_view name) {
  return std::ranges::find(kBackends, name) != std::end(kBackends);
}

const ops::cuda::DeviceProperties* usable_device(const CudaStatus& status) {
  if (!status.report || no_device_reason(*status.report)) return nullptr;
  const auto& devices = status.report->devices;
  const auto usable = std::ranges::find_if(
      devices, [](const ops::cuda::DeviceProperties& device) { return device.unusable.empty(); });
  return usable == devices.end() ? nullptr : &*usable;
}

std::map<std::string, std::string> gpu_details(const CudaStatus& status) {
  std::map<std::string, std::string> details;
  const ops::cuda::DeviceProperties* device = usable_device(status);
  if (device == nullptr) return details;
  const auto put = [&](const char* name, const auto& value) {
    if (value) details[name] = fmt::format("{}", *value);
  };
  const auto put_mode = [&](const char* name, const std::optional<bool>& is_on) {
    if (is_on) details[name] = *is_on ? "on" : "off";
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
    const ops::cuda::NvmlProperties& nvml = *device->nvml;
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
