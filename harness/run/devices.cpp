// SPDX-License-Identifier: Apache-2.0
#include "harness/run/devices.hpp"

#include "harness/run/worker_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace bench {
namespace {

using ops::cuda::ProbeExtent;

// Maximum number of ids per child, so that they fit into a command line and into the time limit.
constexpr std::size_t kMaxIdsPerChild = 200;

CudaStatus make_failed_probe(const Error& error, std::string remedy) {
  return make_status_without_report("", fmt::format("the probe of CUDA failed: {}", error.what),
                                    std::move(remedy));
}

}  // namespace

CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ProbeExtent extent, Env& env, const std::function<bool()>& interrupted) {
  const DocumentRequest request{worker_program,
                                {"--probe", std::string(to_string(extent))},
                                worker_environment,
                                kCudaProbeLimit,
                                interrupted};
  const auto document = read_worker_document(request, env);
  if (!document) {
    return make_failed_probe(document.error(),
                             fmt::format("see `{} worker --probe libraries`", worker_program));
  }
  auto status = parse_cuda_status(*document);
  if (!status) {
    return make_failed_probe(status.error(), "");
  }
  return *std::move(status);
}

Result<CudaSupports> ask_cuda_support(const std::string& worker_program,
                                      const CudaSupportQuestion& question, Env& env) {
  CudaSupports all;
  std::span<const std::string> remaining(question.ids);
  while (!remaining.empty()) {
    const auto batch = remaining.first(std::min(remaining.size(), kMaxIdsPerChild));
    remaining = remaining.subspan(batch.size());
    DocumentRequest request{worker_program, {"--support"}, {}, kCudaSupportLimit};
    if (!question.gpu.empty())
      request.arguments.insert(request.arguments.end(), {"--gpu", question.gpu});
    if (!question.architecture.empty())
      request.arguments.insert(request.arguments.end(), {"--arch", question.architecture});
    if (!question.network_folder.empty())
      request.arguments.insert(request.arguments.end(), {"--networks", question.network_folder});
    request.arguments.insert(request.arguments.end(), batch.begin(), batch.end());
    BENCH_ASSIGN_OR_RETURN(const std::string document, read_worker_document(request, env));
    BENCH_ASSIGN_OR_RETURN(CudaSupports supports, parse_cuda_support(document));
    all.merge(supports);
  }
  return all;
}

std::map<std::string, std::string> Devices::details() const {
  return status_ ? gpu_details(*status_) : std::map<std::string, std::string>();
}

std::optional<ops::cuda::DeviceProperties> Devices::properties() const {
  const ops::cuda::DeviceProperties* device = status_ ? usable_device(*status_) : nullptr;
  return device != nullptr ? std::optional(*device) : std::nullopt;
}

std::optional<std::string> Devices::unavailable_reason(const CaseKey& key) {
  if (key.device != "cuda" || !is_cuda_backend(key.backend)) return std::nullopt;
  if (!status_) status_ = ask_();
  return cuda_unavailable_reason(*status_);
}

}  // namespace bench
