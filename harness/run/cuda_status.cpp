// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cuda_status.hpp"

#include "base/json_document.hpp"
#include "harness/run/worker_document.hpp"
#include "ops/cuda/plugin/bench_cuda.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {
namespace {

using nlohmann::json;
using ops::cuda::ProbeExtent;

constexpr std::string_view kStatusSchema = "bench.worker_probe/1";
constexpr const char* kPluginVariable = "BENCH_CUDA_PLUGIN";
constexpr std::string_view kBackends[] = {"cudnn", "cublaslt", "cublas"};
constexpr const char* kPluginFile = "libbench_cuda.so";
constexpr const char* kHowToBuild =
    "run `ci/setup --cuda` in the source checkout: it installs a CUDA toolkit there, and then "
    "./bench builds the plugin; or name a libbench_cuda.so of this version in $BENCH_CUDA_PLUGIN "
    "(docs/cuda.md, Building)";
#ifdef BENCH_HAS_CUDA_PLUGIN
constexpr bool kBuiltWithPlugin = true;
#else
constexpr bool kBuiltWithPlugin = false;
#endif

struct ExtentName {
  ProbeExtent extent;
  std::string_view name;
  std::int32_t code;
};
constexpr ExtentName kExtents[] = {
    {ProbeExtent::devices, "devices", BENCH_CUDA_PROBE_DEVICES},
    {ProbeExtent::libraries, "libraries", BENCH_CUDA_PROBE_LIBRARIES}};

const ExtentName& row_of(ProbeExtent extent) { return kExtents[static_cast<std::size_t>(extent)]; }

// While it lives, what is written to standard output goes to standard error.
class OutputAside {
 public:
  OutputAside() : kept_(::dup(STDOUT_FILENO)) { ::dup2(STDERR_FILENO, STDOUT_FILENO); }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;
  ~OutputAside() {
    std::fflush(stdout);
    if (kept_ < 0) return;
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

CudaStatus unusable(std::string plugin, std::string reason, std::string remedy) {
  CudaStatus status;
  status.plugin = std::move(plugin);
  status.reason = std::move(reason);
  status.remedy = std::move(remedy);
  return status;
}

using Entry = const bench_plugin* (*)();
using Probe = void (*)(std::int32_t, void (*)(void*, const char*, std::size_t), void*);

CudaStatus ask_plugin(const std::string& path, const bench_plugin& plugin, void* library,
                      ProbeExtent extent) {
  CudaStatus status;
  status.plugin = path;
  status.abi = static_cast<int>(plugin.abi);
  if (plugin.abi != BENCH_PLUGIN_ABI) {
    status.reason = fmt::format(
        "the CUDA plugin speaks version {} of the plugin interface, this "
        "program version {}",
        plugin.abi, BENCH_PLUGIN_ABI);
    status.remedy = "install a plugin of this program's version";
    return status;
  }
  status.version = plugin.version;
  const auto probe = reinterpret_cast<Probe>(::dlsym(library, BENCH_CUDA_PROBE));
  if (probe == nullptr) {
    status.reason = fmt::format("the CUDA plugin does not export {}", BENCH_CUDA_PROBE);
    status.remedy = "install a plugin of this program's version";
    return status;
  }
  std::string text;
  probe(row_of(extent).code, assign_text, &text);
  auto report = ops::cuda::parse_probe(text);
  if (report) {
    status.report = *std::move(report);
  } else {
    status.reason =
        fmt::format("the CUDA plugin's answer is of no use: {}", report.error().message());
  }
  return status;
}

CudaStatus load_and_ask(const std::string& path, ProbeExtent extent) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = ::dlerror();
    return unusable(path,
                    fmt::format("the CUDA plugin does not load: {}",
                                error != nullptr ? error : "unknown error of the loader"),
                    kHowToBuild);
  }
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, BENCH_PLUGIN_ENTRY));
  const bench_plugin* plugin = entry != nullptr ? entry() : nullptr;
  if (plugin == nullptr) {
    return unusable(path, fmt::format("{} is no plugin: it has no {}", path, BENCH_PLUGIN_ENTRY),
                    kHowToBuild);
  }
  return ask_plugin(path, *plugin, library, extent);
}

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

// The first device that kernels of the plugin can run on is enough.
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

void assign_text(void* self, const char* text, std::size_t size) {
  static_cast<std::string*>(self)->assign(text, size);
}

Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable) {
  namespace fs = std::filesystem;
  if (const auto named = variable(kPluginVariable); named && !named->empty()) return *named;
  std::vector<std::string> tried;
  const fs::path folder = fs::path(program).parent_path();
  for (const char* place : {"../lib/bench", "lib/bench"}) {
    const std::string file = (folder / place / kPluginFile).lexically_normal().string();
    if (fs::exists(file)) return file;
    tried.push_back(file);
  }
  if (!kBuiltWithPlugin) return Error{"this build has no CUDA plugin", "", kHowToBuild};
  return Error{
      fmt::format("the CUDA plugin is missing: there is no {}", fmt::join(tried, ", no ")), "",
      "./bench in the source checkout builds it; `cmake --install` installs it with the program"};
}

CudaStatus inspect_cuda(const std::string& program, ProbeExtent extent, const LookUp& variable) {
  const auto path = find_cuda_plugin(program, variable);
  if (!path) return unusable("", path.error().what, path.error().next);
  const OutputAside aside;
  return load_and_ask(*path, extent);
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

CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ProbeExtent extent, Env& env) {
  const DocumentRequest request{worker_program,
                                {"--probe", std::string(row_of(extent).name)},
                                worker_environment,
                                kCudaProbeLimit};
  const auto document = worker_document(request, env);
  if (!document) {
    return unusable("", fmt::format("the probe of CUDA failed: {}", document.error().what),
                    fmt::format("see `{} worker --probe libraries`", worker_program));
  }
  auto status = parse_cuda_status(*document);
  if (!status) {
    return unusable("", fmt::format("the probe of CUDA failed: {}", status.error().what), "");
  }
  return *std::move(status);
}

std::optional<ProbeExtent> probe_extent_from_name(std::string_view name) {
  for (const ExtentName& row : kExtents) {
    if (row.name == name) return row.extent;
  }
  return std::nullopt;
}

std::optional<std::string> why_no_cuda(const CudaStatus& status) {
  if (!status.report) return fmt::format("no CUDA device: {}", status.reason);
  if (const auto reason = why_no_device(*status.report)) {
    return fmt::format("no CUDA device: {}", *reason);
  }
  if (status.report->operators.empty()) {
    return std::string("no CUDA kernels: the plugin of this build has a kernel of no operator");
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

std::map<std::string, std::string> Devices::details() const {
  return status_ ? gpu_details(*status_) : std::map<std::string, std::string>();
}

std::optional<std::string> Devices::missing(const CaseKey& key) {
  const bool own =
      std::find(std::begin(kBackends), std::end(kBackends), key.backend) != std::end(kBackends);
  if (key.device != "cuda" || !own) return std::nullopt;
  if (!status_) status_ = ask_();
  return why_no_cuda(*status_);
}

}  // namespace bench
