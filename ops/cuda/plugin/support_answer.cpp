// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/plugin/support_answer.hpp"

#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/support.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/read_problem.hpp"
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/support_oracle.hpp"
#endif

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace bench::ops::cuda {
namespace {

constexpr std::string_view kRunsNames[] = {"yes", "no", "unknown"};

Support product_support(const Problem& problem, ProductLibrary library, std::string name) {
  const auto form = gemm_form(problem, library);
  if (!form) return {Runs::no, "", form.error().reason};
  return {Runs::yes, std::move(name), ""};
}

#ifdef BENCH_HAS_CUDNN
Support graph_support(const Problem& problem, std::span<const SearchStep> search) {
  SupportQuestion question;
  auto api = load_cudnn(search);
  if (api) {
    question.api = *std::move(api);
  } else {
    question.missing = api.error().reason;
  }
  return support_of(problem, question);
}
#else
Support graph_support(const Problem&, std::span<const SearchStep>) {
  return {Runs::unknown, "", "this plugin was built without cuDNN"};
}
#endif

Support support(const bench_problem& given, std::string_view backend,
                std::span<const SearchStep> search) {
  const auto problem = read_problem(given);
  if (!problem) return {Runs::no, "", problem.error().message()};
  const bool is_product = problem->op->name == "gemm";
  if (is_product != (backend != "cudnn")) {
    return {Runs::no, "",
            fmt::format("{} does not serve the operator {}", backend, problem->op->name)};
  }
  if (backend == "cublaslt") return product_support(*problem, ProductLibrary::cublaslt, "cuBLASLt");
  if (backend == "cublas") return product_support(*problem, ProductLibrary::cublas, "cuBLAS");
  return graph_support(*problem, search);
}

}  // namespace

std::string support_answer(const bench_problem& problem, std::string_view backend,
                           std::span<const SearchStep> search) {
  const Support answer = support(problem, backend, search);
  const nlohmann::json document = {{"runs", kRunsNames[static_cast<std::size_t>(answer.runs)]},
                                   {"by", answer.by},
                                   {"reason", answer.reason}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace bench::ops::cuda
