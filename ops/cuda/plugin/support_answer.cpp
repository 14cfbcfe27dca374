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

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace bench::ops::cuda {
namespace {

constexpr std::string_view kRunsNames[] = {"yes", "no", "unknown"};

Support product_support(const Problem& problem, ProductLibrary library, std::string name,
                        ComputeCapability of) {
  const auto form = gemm_form(problem, library);
  if (!form) return {Runs::no, "", form.error().reason};
  if (auto error = refused_by_device(*form, of)) return {Runs::no, "", std::move(error)->reason};
  return {Runs::yes, std::move(name), ""};
}

struct Answer {
  Support support;
  std::vector<std::string> engines;
};

#ifdef BENCH_HAS_CUDNN
// Lists each engine once, although the heuristics name it for each of its configurations. Engines
// that are compiled at run time answer only if a driver or its stub is loaded.
std::vector<std::string> list_engines(const Problem& problem,
                                      const std::shared_ptr<const CudnnApi>& api,
                                      std::string_view device) {
  if (api == nullptr || device.empty()) return {};
  const auto planned = planned_engines(api, problem, device);
  if (!planned) return {"none: " + planned.error().reason};
  std::vector<std::string> texts;
  for (const PlannedEngine& engine : *planned) {
    std::string text = engine.text();
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  return texts;
}

Answer graph_answer(const Problem& problem, const DescribedDevice& device,
                    std::span<const SearchStep> search) {
  SupportQuestion question;
  question.of = device.capability;
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
  return {{Runs::unknown, "", "this plugin was built without cuDNN"}, {}};
}
#endif

Answer answer_to(const bench_problem& c_problem, std::string_view backend,
                 const DescribedDevice& device, std::span<const SearchStep> search) {
  const auto problem = read_problem(c_problem);
  if (!problem) return {{Runs::no, "", problem.error().message()}, {}};
  const bool is_product = problem->op->name == "gemm";
  if (is_product != (backend != "cudnn")) {
    return {{Runs::no, "",
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
  int number = 0;
  std::size_t members = 0;
  const auto read = [&](JsonReader& reader) {
    reader.required("deviceVer", number);
    members = reader.names().size();
  };
  if (!read_json_object(json, read).ok()) return {kNoDevice, json};
  constexpr int kMajor = 100, kMinor = 10;  // 890 means 8.9
  // cuDNN cannot plan for a device that is described only by its capability.
  return {{number / kMajor, number % kMajor / kMinor}, members > 1 ? json : ""};
}

std::string support_answer(const bench_problem& problem, std::string_view backend,
                           const DescribedDevice& device, std::span<const SearchStep> search) {
  const Answer answer = answer_to(problem, backend, device, search);
  const Support& support = answer.support;
  return json_object([&](JsonWriter& writer) {
    writer.required("runs", kRunsNames[static_cast<std::size_t>(support.runs)]);
    writer.required("by", support.by);
    writer.required("reason", support.reason);
    writer.required("engines", answer.engines);
  });
}

}  // namespace bench::ops::cuda
