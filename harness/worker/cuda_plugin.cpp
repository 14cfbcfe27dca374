// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/cuda_plugin.hpp"

#include "base/function_table.hpp"
#include "harness/config/case_id.hpp"
#include "harness/host/gpu_description.hpp"
#include "ops/cuda/plugin/bench_cuda.h"
#include "ops/operator_registry.hpp"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/plugin.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bench {
namespace {

using ops::cuda::ProbeExtent;

constexpr const char* kPluginVariable = "BENCH_CUDA_PLUGIN";
constexpr const char* kPluginFile = "libbench_cuda.so";
constexpr const char* kHowToBuild =
    "run `ci/setup --cuda` in the source checkout: it installs a CUDA toolkit there, and then "
    "./bench builds the plugin; or name a libbench_cuda.so of this version in $BENCH_CUDA_PLUGIN "
    "(docs/cuda.md, Building)";
#ifdef BENCH_HAS_CUDA_PLUGIN
constexpr bool kHasPlugin = true;
#else
constexpr bool kHasPlugin = false;
#endif

// In the order of the enumerators of ProbeExtent.
constexpr std::array<std::int32_t, 2> kExtentCodes = {BENCH_CUDA_PROBE_DEVICES,
                                                      BENCH_CUDA_PROBE_LIBRARIES};

// Receives a text from the plugin's functions and assigns it to the std::string at `self`.
void assign_text(void* self, const char* text, std::size_t size) {
  static_cast<std::string*>(self)->assign(text, size);
}

// Redirects standard output to standard error while it lives.
class StdoutRedirect {
 public:
  StdoutRedirect() : saved_stdout_(::dup(STDOUT_FILENO)) { ::dup2(STDERR_FILENO, STDOUT_FILENO); }
  StdoutRedirect(const StdoutRedirect&) = delete;
  StdoutRedirect& operator=(const StdoutRedirect&) = delete;
  ~StdoutRedirect() {
    std::fflush(stdout);
    if (saved_stdout_ < 0) return;
    ::dup2(saved_stdout_, STDOUT_FILENO);
    ::close(saved_stdout_);
  }

 private:
  int saved_stdout_;
};

CudaStatus query_plugin(const std::string& path, const bench_plugin& plugin,
                        const DynamicLibrary& library, ProbeExtent extent) {
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
  auto* const probe = library.function<decltype(::bench_cuda_probe)>(BENCH_CUDA_PROBE);
  if (probe == nullptr) {
    status.reason = fmt::format("the CUDA plugin does not export {}", BENCH_CUDA_PROBE);
    status.remedy = "install a plugin of this program's version";
    return status;
  }
  std::string text;
  probe(kExtentCodes[static_cast<std::size_t>(extent)], assign_text, &text);
  auto report = ops::cuda::parse_probe(text);
  if (report) {
    status.report = *std::move(report);
  } else {
    status.reason =
        fmt::format("the CUDA plugin's answer is invalid: {}", report.error().message());
  }
  return status;
}

CudaStatus load_and_query(const std::string& path, ProbeExtent extent) {
  const auto library = DynamicLibrary::load(path);
  if (!library) {
    return make_status_without_report(
        path, fmt::format("the CUDA plugin does not load: {}", library.error()), kHowToBuild);
  }
  auto* const entry = library->function<const bench_plugin*()>(BENCH_PLUGIN_ENTRY);
  const bench_plugin* plugin = entry != nullptr ? entry() : nullptr;
  if (plugin == nullptr) {
    return make_status_without_report(
        path, fmt::format("{} is not a plugin: it does not export {}", path, BENCH_PLUGIN_ENTRY),
        kHowToBuild);
  }
  return query_plugin(path, *plugin, *library, extent);
}

// The functions of the plugin that answer without a device.
struct PlanningFunctions {
  BENCH_FUNCTIONS(PlanningFunctions, (support, bench_cuda_support), (plan, bench_cuda_plan));
};

Result<PlanningFunctions> load_planning_functions(const std::string& path) {
  BENCH_ASSIGN_OR_RETURN(const ops::Plugin plugin, ops::Plugin::load(path));
  static_cast<void>(plugin);  // load() checks the interface version
  PlanningFunctions functions;
  const auto library = DynamicLibrary::load(path);
  const auto missing =
      library ? find_functions(*library, functions) : std::vector{BENCH_CUDA_SUPPORT};
  if (missing.empty()) return functions;
  return Error{fmt::format("does not export {}", missing.front()), path,
               "install a CUDA plugin of this program's version"};
}

Result<CudaSupport> query_support(const PlanningFunctions& functions, const std::string& id,
                                  const std::string& device, const NetworkFinder& find_network) {
  BENCH_ASSIGN_OR_RETURN(const CaseKey key, parse_id(id));
  std::string text;
  if (key.op == ops::kNetworkOperator) {
    BENCH_ASSIGN_OR_RETURN(const ops::Network network, find_network(id));
    if (network.gap) {
      return CudaSupport{.runs = "no", .by = "", .reason = *network.gap};
    }
    functions.plan(ops::CNetwork(network).get(), device.c_str(), assign_text, &text);
  } else {
    BENCH_ASSIGN_OR_RETURN(const ops::Problem problem, problem_from_key(key));
    functions.support(ops::CProblem(problem).get(), key.backend.c_str(), device.c_str(),
                      assign_text, &text);
  }
  auto support = parse_one_cuda_support(text);
  if (!support) return Error{support.error().what, id, support.error().next};
  return support;
}

Result<std::string> device_description(const CudaSupportQuestion& question) {
  if (!question.architecture.empty())
    return describe_architecture(question.architecture).cudnn_properties;
  if (question.gpu.empty()) return std::string();
  BENCH_ASSIGN_OR_RETURN(const GpuDescription gpu, read_gpu_description(question.gpu));
  return gpu.cudnn_properties;
}

}  // namespace

Result<std::string> find_cuda_plugin(const std::string& program, const LookUp& variable) {
  namespace fs = std::filesystem;
  if (const auto path = variable(kPluginVariable); path && !path->empty()) return *path;
  std::vector<std::string> tried;
  const fs::path folder = fs::path(program).parent_path();
  for (const char* subfolder : {"../lib/bench", "lib/bench"}) {
    const std::string file = (folder / subfolder / kPluginFile).lexically_normal().string();
    if (fs::exists(file)) return file;
    tried.push_back(file);
  }
  if (!kHasPlugin) return Error{"this build has no CUDA plugin", "", kHowToBuild};
  return Error{
      fmt::format("the CUDA plugin is missing: there is no {}", fmt::join(tried, ", no ")), "",
      "./bench in the source checkout builds it; `cmake --install` installs it with the program"};
}

CudaStatus inspect_cuda(const std::string& program, ProbeExtent extent, const LookUp& variable) {
  const auto path = find_cuda_plugin(program, variable);
  if (!path) return make_status_without_report("", path.error().what, path.error().next);
  const StdoutRedirect redirect;
  return load_and_query(*path, extent);
}

Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question,
                                          const NetworkFinder& find_network) {
  BENCH_ASSIGN_OR_RETURN(const std::string device, device_description(question));
  BENCH_ASSIGN_OR_RETURN(const std::string path, find_cuda_plugin(program, variable));
  BENCH_ASSIGN_OR_RETURN(const PlanningFunctions functions, load_planning_functions(path));
  CudaSupports supports;
  for (const std::string& id : question.ids) {
    BENCH_ASSIGN_OR_RETURN(supports[id], query_support(functions, id, device, find_network));
  }
  return supports;
}

}  // namespace bench
