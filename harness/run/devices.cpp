// SPDX-License-Identifier: Apache-2.0
#include "harness/run/devices.hpp"

#include "harness/run/worker_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace bench {
namespace {

using ops::cuda::ProbeExtent;

// Ids per child: they fit into a command line, and the time limit suffices for them.
constexpr std::size_t kIdsPerChild = 200;

CudaStatus no_answer(const Error& error, std::string remedy) {
  return make_status_without_report("", fmt::format("the probe of CUDA failed: {}", error.what),
                                    std::move(remedy));
}

}  // namespace

CudaStatus ask_cuda(const std::string& worker_program,
                    const std::map<std::string, std::string>& worker_environment,
                    ProbeExtent extent, Env& env) {
  const DocumentRequest request{worker_program,
                                {"--probe", std::string(to_string(extent))},
                                worker_environment,
                                kCudaProbeLimit};
  const auto document = worker_document(request, env);
  if (!document) {
    return no_answer(document.error(),
                     fmt::format("see `{} worker --probe libraries`", worker_program));
  }
  auto status = parse_cuda_status(*document);
  if (!status) {
    return no_answer(status.error(), "");
  }
  return *std::move(status);
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

std::map<std::string, std::string> Devices::details() const {
  return status_ ? gpu_details(*status_) : std::map<std::string, std::string>();
}

std::optional<std::string> Devices::missing(const CaseKey& key) {
  const auto names = cuda_backend_names();
  const bool own = std::ranges::find(names, key.backend) != names.end();
  if (key.device != "cuda" || !own) return std::nullopt;
  if (!status_) status_ = ask_();
  return cuda_unavailable_reason(*status_);
}

}  // namespace bench
