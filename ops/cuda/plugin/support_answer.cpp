// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/plugin/support_answer.hpp"

#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/support.hpp"
#include "ops/operator.hpp"
#include "ops/plugin/c_problem.hpp"
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#endif

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr std::string_view kRunnableNames[] = {"yes", "no", "unknown"};

Support product_support(const Problem& problem, ProductLibrary library, std::string name,
                        ComputeCapability capability) {
  const auto form = gemm_form(problem, library);
  if (!form) return {Runnable::no, "", form.error().reason};
  if (auto error = refused_by_device(*form, capability))
    return {Runnable::no, "", std::move(error)->reason};
  return {Runnable::yes, std::move(name), ""};
}

struct Answer {
  Support support;
  std::vector<std::string> engines;
};

#ifdef BENCH_HAS_CUDNN
// Lists all configurations, the one that runs first. Engines that are compiled at run time are
// listed only if a driver or its stub is loaded.
std::vector<std::string> list_engines(const Problem& problem,
                                      const std::shared_ptr<const CudnnApi>& api,
                                      std::string_view device) {
  if (api == nullptr || device.empty()) return {};
  const auto listed = all_listed_engines(api, problem, device);
  if (!listed) return {"none: " + listed.error().reason};
  std::vector<std::string> engine_texts;
  for (const ListedEngine& engine : *listed) engine_texts.push_back(engine.text());
  return engine_texts;
}

Answer graph_answer(const Problem& problem, const DescribedDevice& device,
                    std::span<const SearchStep> search) {
  SupportQuestion question;
  question.capability = device.capability;
  auto api = load_cudnn(search);
  if (api) {
    question.api = *std::move(api);
  } else {
    question.missing = api.error().reason;
  }
  return {check_support(problem, question), list_engines(problem, question.api, device.properties)};
}
#else
Answer graph_answer(const Problem&, const DescribedDevice&, std::span<const SearchStep>) {
  return {{Runnable::unknown, "", "this plugin was built without cuDNN"}, {}};
}
#endif

Answer answer_to(const bench_problem& c_problem, std::string_view backend,
                 const DescribedDevice& device, std::span<const SearchStep> search) {
  const auto problem = read_problem(c_problem);
  if (!problem) return {{Runnable::no, "", problem.error().message()}, {}};
  const bool is_product = problem->op->name == "gemm";
  if (is_product != (backend != "cudnn")) {
    return {{Runnable::no, "",
             fmt::format("{} does not serve the operator {}", backend, problem->op->name)},
            {}};
  }
  if (!is_product) return graph_answer(*problem, device, search);
  return {backend == "cublas"
              ? product_support(*problem, ProductLibrary::cublas, "cuBLAS", device.capability)
              : product_support(*problem, ProductLibrary::cublaslt, "cuBLASLt", device.capability),
          {}};
}

}  // namespace

DescribedDevice parse_asked_device(std::string_view json) {
  int device_version = 0;
  std::size_t member_count = 0;
  const auto read = [&](JsonReader& reader) {
    reader.required("deviceVer", device_version);
    member_count = reader.names().size();
  };
  if (!read_json_object(json, read).ok()) return {kNoDevice, json};
  constexpr int kMajorFactor = 100, kMinorFactor = 10;  // 890 means 8.9
  // cuDNN cannot plan for a device that is described only by its capability.
  return {{device_version / kMajorFactor, device_version % kMajorFactor / kMinorFactor},
          member_count > 1 ? json : ""};
}

std::string support_answer(const bench_problem& problem, std::string_view backend,
                           const DescribedDevice& device, std::span<const SearchStep> search) {
  const Answer answer = answer_to(problem, backend, device, search);
  const Support& support = answer.support;
  return json_object([&](JsonWriter& writer) {
    writer.required("runs", kRunnableNames[static_cast<std::size_t>(support.runs)]);
    writer.required("by", support.by);
    writer.required("reason", support.reason);
    writer.required("engines", answer.engines);
  });
}

}  // namespace bench::ops::cuda
