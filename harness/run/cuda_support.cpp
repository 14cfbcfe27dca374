// SPDX-License-Identifier: Apache-2.0
#include "harness/run/cuda_support.hpp"

#include "base/json_document.hpp"
#include "harness/config/case_id.hpp"
#include "harness/run/gpu_description.hpp"
#include "harness/run/subject.hpp"
#include "harness/run/worker_document.hpp"
#include "ops/cuda/plugin/bench_cuda.h"
#include "ops/plugin/c_problem.hpp"
#include "ops/plugin/plugin.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <dlfcn.h>
#include <span>
#include <utility>

namespace bench {
namespace {

using nlohmann::json;

constexpr std::string_view kSupportSchema = "bench.cuda_support/1";
// Of one child: a command line holds so many with ease, and its time suffices.
constexpr std::size_t kIdsPerChild = 200;

using Ask = decltype(&::bench_cuda_support);

CudaSupport read_support(const json& object) {
  return {object.at("runs").get<std::string>(), object.at("by").get<std::string>(),
          object.at("reason").get<std::string>(),
          object.at("engines").get<std::vector<std::string>>()};
}

Result<CudaSupport> ask_plugin(Ask ask, const std::string& id, const std::string& device) {
  BENCH_ASSIGN_OR_RETURN(const CaseKey key, parse_id(id));
  BENCH_ASSIGN_OR_RETURN(const Subject subject,
                         make_subject(key, nullptr, ops::built_in_catalogue()));
  const auto* problem = std::get_if<ops::Problem>(&subject);
  if (problem == nullptr) return Error{"is a network", id, "ask for its layers"};
  const ops::CProblem given(*problem);
  std::string text;
  ask(given.get(), key.backend.c_str(), device.c_str(), assign_text, &text);
  const json answer = json::parse(text, nullptr, false);
  try {
    return read_support(answer);
  } catch (const json::exception& exception) {
    return Error{fmt::format("the CUDA plugin's answer is of no use: {}", exception.what()), id,
                 ""};
  }
}

}  // namespace

Result<CudaSupports> inspect_cuda_support(const std::string& program, const LookUp& variable,
                                          const CudaSupportQuestion& question) {
  std::string device;
  if (!question.gpu.empty()) {
    BENCH_ASSIGN_OR_RETURN(const GpuDescription gpu, read_gpu_description(question.gpu));
    device = gpu.cudnn_properties;
  }
  BENCH_ASSIGN_OR_RETURN(const std::string path, find_cuda_plugin(program, variable));
  BENCH_ASSIGN_OR_RETURN(const ops::Plugin plugin, ops::Plugin::load(path));
  static_cast<void>(plugin);  // looked at: it is one, of this version of the interface
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto ask =
      library == nullptr ? nullptr : reinterpret_cast<Ask>(::dlsym(library, BENCH_CUDA_SUPPORT));
  if (ask == nullptr) {
    return Error{fmt::format("does not export {}", BENCH_CUDA_SUPPORT), path,
                 "install a CUDA plugin of this program's version"};
  }
  CudaSupports supports;
  for (const std::string& id : question.ids) {
    BENCH_ASSIGN_OR_RETURN(supports[id], ask_plugin(ask, id, device));
  }
  return supports;
}

std::string format_cuda_support(const CudaSupports& supports) {
  json document = {{"schema", kSupportSchema}, {"cases", json::object()}};
  for (const auto& [id, support] : supports) {
    document["cases"][id] = {{"runs", support.runs},
                             {"by", support.by},
                             {"reason", support.reason},
                             {"engines", support.engines}};
  }
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<CudaSupports> parse_cuda_support(std::string_view text) {
  return read_json_document(text, kSupportSchema, [](const json& document) {
    CudaSupports supports;
    for (const auto& [id, object] : document.at("cases").items()) {
      supports.emplace(id, read_support(object));
    }
    return supports;
  });
}

Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const CudaSupportQuestion& question, Env& env) {
  CudaSupports all;
  std::span<const std::string> left(question.ids);
  while (!left.empty()) {
    const auto some = left.first(std::min(left.size(), kIdsPerChild));
    left = left.subspan(some.size());
    DocumentRequest request{worker_program, {"--support"}, {}, kCudaSupportLimit};
    if (!question.gpu.empty())
      request.arguments.insert(request.arguments.end(), {"--gpu", question.gpu});
    request.arguments.insert(request.arguments.end(), some.begin(), some.end());
    BENCH_ASSIGN_OR_RETURN(const std::string document, worker_document(request, env));
    BENCH_ASSIGN_OR_RETURN(CudaSupports found, parse_cuda_support(document));
    all.merge(found);
  }
  return all;
}

}  // namespace bench
