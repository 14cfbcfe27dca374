// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/cuda_plugin.hpp"

#include "base/dynamic_library.hpp"
#include "base/version.hpp"
#include "harness/config/case_id.hpp"
#include "harness/host/gpu_description.hpp"
#include "ops/operator_registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <filesystem>
#include <type_traits>
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

// A version of the program with what distinguishes its builds.
std::string describe_build(std::string_view version, std::string_view id) {
  return fmt::format("bench {} (build {})", version, id);
}

Result<CudaSupport> query_support(ops::cuda::PluginServices& plugin, const std::string& id,
                                  const std::string& device, const NetworkFinder& find_network) {
  BENCH_ASSIGN_OR_RETURN(const CaseKey key, parse_id(id));
  std::string text;
  if (key.op == ops::kNetworkOperator) {
    BENCH_ASSIGN_OR_RETURN(const ops::Network network, find_network(id));
    if (network.gap) {
      return CudaSupport{.runs = "no", .by = "", .reason = *network.gap};
    }
    text = plugin.plan(network, device);
  } else {
    BENCH_ASSIGN_OR_RETURN(const ops::Problem problem, problem_from_key(key));
    text = plugin.support(problem, key.backend, device);
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

Result<CudaPlugin> load_cuda_plugin(const std::string& path) {
  const auto library = DynamicLibrary::load(path);
  if (!library) {
    return Error{fmt::format("the CUDA plugin does not load: {}", library.error()), "",
                 kHowToBuild};
  }
  const auto hand_over = library->function<std::remove_pointer_t<ops::cuda::HandoverFunction>>(
      ops::cuda::kHandoverFunction);
  if (hand_over == nullptr) {
    return Error{fmt::format("{} is not a CUDA plugin of this version: it does not export {}", path,
                             ops::cuda::kHandoverFunction),
                 "", kHowToBuild};
  }
  const ops::cuda::Handover handover = hand_over(std::string(build_id()).c_str());
  if (handover.build != build_id()) {
    return Error{fmt::format("the CUDA plugin {} was built with {}, this is {}", path,
                             describe_build(handover.program, handover.build),
                             describe_build(tool_version(), build_id())),
                 "", "install both from one build"};
  }
  if (handover.services == nullptr) {
    return Error{fmt::format("the CUDA plugin {} reports an error when it is loaded", path), "",
                 "its message is on standard error"};
  }
  return CudaPlugin{path, handover};
}

CudaStatus inspect_cuda(const std::string& program, ProbeExtent extent, const LookUp& variable) {
  const auto path = find_cuda_plugin(program, variable);
  if (!path) return make_status_without_report("", path.error().what, path.error().next);
  const StdoutRedirect redirect;
  const auto plugin = load_cuda_plugin(*path);
  if (!plugin) return make_status_without_report(*path, plugin.error().what, plugin.error().next);
  CudaStatus status;
  status.plugin = *path;
  status.abi = static_cast<int>(plugin->handover.version);
  status.version = plugin->handover.program;
  auto report = plugin->handover.services->probe(extent);
  if (report) {
    status.report = *std::move(report);
  } else {
    status.reason =
        fmt::format("the CUDA plugin's answer is invalid: {}", report.error().message());
  }
  return status;
}

Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question,
                                          const NetworkFinder& find_network) {
  BENCH_ASSIGN_OR_RETURN(const std::string device, device_description(question));
  BENCH_ASSIGN_OR_RETURN(const std::string path, find_cuda_plugin(program, variable));
  BENCH_ASSIGN_OR_RETURN(const CudaPlugin plugin, load_cuda_plugin(path));
  CudaSupports supports;
  for (const std::string& id : question.ids) {
    BENCH_ASSIGN_OR_RETURN(supports[id],
                           query_support(*plugin.handover.services, id, device, find_network));
  }
  return supports;
}

}  // namespace bench
