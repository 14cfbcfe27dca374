// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/plugin/support_answer.hpp"

#include "base/json_fields.hpp"
#include "base/json_reader.hpp"
#include "base/json_writer.hpp"
#include "ops/cuda/cublas/gemm_form.hpp"
#include "ops/cuda/support.hpp"
#include "ops/operator.hpp"
#ifdef BENCH_HAS_CUDNN
#include "ops/cuda/cudnn/cudnn_api.hpp"
#include "ops/cuda/cudnn/network_plan.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#endif

#include <fmt/format.h>

#include <memory>
#include <vector>

namespace bench::ops::cuda {
namespace {

Support product_support(const Problem& problem, ProductLibrary library, std::string_view name,
                        ComputeCapability capability) {
  const auto parts = product_parts(problem, library, capability);
  if (!parts) return {Runnable::no, "", parts.error().reason};
  return {Runnable::yes, product_name(name, *parts), ""};
}

struct Answer {
  Support support;
  std::vector<std::string> engines = {};
};

void write_answer(JsonWriter& writer, const Answer& answer) {
  BENCH_MEMBERS(writer, answer.support, runs, by, reason);
  writer.required("engines", answer.engines);
}

#ifdef BENCH_HAS_CUDNN
// Lists all configurations, the one that runs first. Engines that are compiled at run time are
// listed only if a driver or its stub is loaded. None is listed for a problem that cuDNN does not
// compute.
std::vector<std::string> list_engines(const Problem& problem,
                                      const std::shared_ptr<const CudnnApi>& api,
                                      std::string_view device) {
  if (api == nullptr || device.empty() || known_gap(problem)) return {};
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

// Says what the plan of a network rests on. Call it after planning, since cuDNN loads the driver.
std::string plan_basis(const NetworkQuestion& question, const std::string& missing) {
  constexpr std::string_view kOnlyRules = "only the rules of bench answered; engines are not known";
  if (question.api == nullptr)
    return fmt::format("{}: cuDNN was not found: {}", kOnlyRules, missing);
  if (question.device_json.empty()) {
    return fmt::format("{}: cuDNN needs more of the device than its compute capability",
                       kOnlyRules);
  }
  const std::string cudnn =
      fmt::format("cuDNN {} answered for this device", format_version(*question.api));
  switch (find_driver()) {
    case DriverPresence::present:
      return cudnn;
    case DriverPresence::stub:
      return cudnn + ", with the toolkit's stub of a driver";
    case DriverPresence::absent:
      break;
  }
  return cudnn +
         ", but without a driver it leaves out engines that it compiles at run time, which are "
         "then "
         "n/a; libcuda.so of a toolkit, in its folder lib64/stubs, suffices";
}

void write_planned_step(JsonWriter& writer, const PlannedStep& planned) {
  BENCH_MEMBERS(writer, planned.step, node, kind);
  writer.required("way", planned.way);
  BENCH_MEMBERS(writer, planned.step, implementation, layouts);
  writer.required("other_ways", planned.other_ways);
}

std::string graph_plan_answer(const Network& network, const DescribedDevice& device,
                              std::span<const SearchStep> search) {
  NetworkQuestion question{nullptr, device.capability, device.properties};
  std::string missing;
  if (auto api = load_cudnn(search)) {
    question.api = *std::move(api);
  } else {
    missing = api.error().reason;
  }
  const auto steps = plan_network(question, network);
  const Support support =
      steps ? Support{Runnable::yes, "cuDNN", ""} : Support{Runnable::no, "", steps.error().reason};
  return json_object([&](JsonWriter& writer) {
    write_answer(writer, {support});
    if (!steps) return;
    writer.required("basis", plan_basis(question, missing));
    writer.required_list("steps", *steps, write_planned_step);
  });
}
#else
constexpr std::string_view kWithoutCudnn = "this plugin was built without cuDNN";

Answer graph_answer(const Problem&, const DescribedDevice&, std::span<const SearchStep>) {
  return {{Runnable::unknown, "", std::string(kWithoutCudnn)}};
}
std::string graph_plan_answer(const Network&, const DescribedDevice&, std::span<const SearchStep>) {
  return json_object([](JsonWriter& writer) {
    write_answer(writer, {{Runnable::unknown, "", std::string(kWithoutCudnn)}});
  });
}
#endif

Answer answer_to(const Problem& problem, std::string_view backend, const DescribedDevice& device,
                 std::span<const SearchStep> search) {
  if (is_product(problem) != (backend != "cudnn")) {
    return {{Runnable::no, "",
             fmt::format("{} does not serve the operator {}", backend, problem.op->name)},
            {}};
  }
  if (!is_product(problem)) return graph_answer(problem, device, search);
  return {backend == "cublas"
              ? product_support(problem, ProductLibrary::cublas, "cuBLAS", device.capability)
              : product_support(problem, ProductLibrary::cublaslt, "cuBLASLt", device.capability),
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

std::string support_answer(const Problem& problem, std::string_view backend,
                           const DescribedDevice& device, std::span<const SearchStep> search) {
  const Answer answer = answer_to(problem, backend, device, search);
  return json_object([&](JsonWriter& writer) { write_answer(writer, answer); });
}

std::string refusal_answer(const std::string& reason) {
  return json_object([&](JsonWriter& writer) {
    write_answer(writer, {{Runnable::no, "", reason}});
  });
}

std::string plan_answer(const Network& network, const DescribedDevice& device,
                        std::span<const SearchStep> search) {
  return graph_plan_answer(network, device, search);
}

}  // namespace bench::ops::cuda
