// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/gpu_tests/conversion.hpp"

#include "ops/cuda/plugin/backends.hpp"
#include "ops/cuda/plugin/runtime_probe.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace bench::ops::cuda {
namespace {

Result<std::shared_ptr<Backend>> open_cudnn(const CheckRun& run) {
  const auto backends = cuda_backends(run.search, process_variable);
  const auto cudnn =
      std::find_if(backends.begin(), backends.end(),
                   [](const OfferedBackend& candidate) { return candidate.name == "cudnn"; });
  if (cudnn == backends.end()) return Error{"the plugin was built without cuDNN", "", ""};
  auto opened = cudnn->open();
  if (!opened) return Error{opened.error().reason, "", ""};
  return std::shared_ptr<Backend>(*std::move(opened));
}

Result<Problem> make_convolution(std::int64_t channels) {
  const Operator* op = find_operator("conv");
  BENCH_ASSIGN_OR_RETURN(ProblemTokens parsed,
                         parse_problem_tokens(*op, fmt::format("n32c{}h28w28k64r3s3p1", channels)));
  return make_problem({.op = op,
                       .dtype = DataType::f16,
                       .layout = Layout::nhwc,
                       .parameters = std::move(parsed.parameters)});
}

}  // namespace

Result<std::vector<ConversionCase>> make_conversion_cases(const CheckRun& run) {
  BENCH_ASSIGN_OR_RETURN(const std::shared_ptr<Backend> backend, open_cudnn(run));
  std::vector<ConversionCase> cases;
  for (const std::int64_t channels : kConversionChannels) {
    BENCH_ASSIGN_OR_RETURN(const Problem problem, make_convolution(channels));
    BENCH_ASSIGN_OR_RETURN(BoundCase bound, bind_case(backend, problem));
    cases.push_back({channels, std::move(bound)});
  }
  return cases;
}

}  // namespace bench::ops::cuda
