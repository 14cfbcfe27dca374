// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/planning.hpp"

#include "base/dynamic_library.hpp"
#include "ops/backend/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace bench::ops::cuda {
namespace {

Result<Descriptor> device_properties(const std::shared_ptr<const CudnnApi>& api,
                                     std::string_view json) {
  return DescriptorBuilder(api, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, "the device's properties")
      .text(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json)
      .finish();
}

// cuDNN lists up to some hundred configurations. Only the first usable ones matter, but those that
// the data type forbids may precede all others.
constexpr std::int64_t kMaxConfigurations = 256;

// Returns the configurations that the heuristics offer in `mode`, in their order. They are for the
// device that `device` describes or, if it is null, for the device of the graph's handle.
Result<std::vector<Descriptor>> configurations(const std::shared_ptr<const CudnnApi>& api,
                                               const OperationGraph& graph,
                                               const Descriptor* device,
                                               cudnnBackendHeurMode_t mode) {
  DescriptorBuilder builder(api, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the choice of an engine");
  builder.descriptor(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph)
      .code(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  if (device != nullptr) builder.descriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *device);
  BENCH_ASSIGN_OR_RETURN(const Descriptor heuristics, builder.finish());
  return heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                kMaxConfigurations);
}

PlannedEngine read_engine(const Descriptor& configuration) {
  PlannedEngine planned;
  const auto engines =
      configuration.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (!engines || engines->empty()) return planned;
  const Descriptor& engine = engines->front();
  planned.index = engine.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).value_or(-1);
  for (const std::int32_t note :
       engine.codes(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE)) {
    // Later versions of cuDNN may define more notes.
    if (note >= 0 && static_cast<std::size_t>(note) < enumerator_names<EngineNote>().size()) {
      planned.notes.push_back(static_cast<EngineNote>(note));
    }
  }
  for (const std::int32_t note :
       engine.codes(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE)) {
    planned.is_runtime_compiled |= note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
  }
  return planned;
}

// Returns the reason if cuDNN offers no engine.
std::string_view no_engine_reason() {
  if (find_driver() == DriverPresence::absent)
    return "its heuristics offer none (engines that are compiled at run time need a driver)";
  return "its heuristics offer none";
}

cudnnBackendHeurMode_t heuristics_mode(EngineList list) {
  switch (list) {
    case EngineList::instant:
      return CUDNN_HEUR_MODE_A;
    case EngineList::precise:
      return CUDNN_HEUR_MODE_B;
    case EngineList::fallback:
      break;
  }
  return CUDNN_HEUR_MODE_FALLBACK;
}

// Whether sums in the operands' own precision are among the results that the data type permits.
// Frameworks use such engines too. The check of the results guards against errors that are too
// large, and the engine's note states the precision.
bool may_round_sums(const Problem& problem) {
  return problem.dtype == DataType::f16 || problem.dtype == DataType::bf16;
}

// Returns why a problem may not use an engine; empty if it may.
std::string_view forbidden_reason(const Problem& problem, const PlannedEngine& engine) {
  if (engine.has(EngineNote::down_convert_inputs)) return "they round their inputs";
  // The following notes are irrelevant for operators without matrix products. Pointwise engines
  // have them too.
  if (!problem.work.macs) return "";
  if (engine.has(EngineNote::reduced_precision_reduction) && !may_round_sums(problem))
    return "they round their sums";
  if (problem.dtype == DataType::f32 && problem.math == Math::standard &&
      engine.has(EngineNote::tensor_core)) {
    return "they compute f32 as TF32, which requires `math: tf32`";
  }
  return "";
}

bool has_same(std::span<const EngineCandidate> candidates, const EngineCandidate& candidate) {
  return std::ranges::any_of(
      candidates, [&](const EngineCandidate& earlier) { return earlier.is_same(candidate); });
}

// Moves the configurations of `lists` into one list by turns: the first of each list, the second of
// each list, and so on. Leaves out doubles.
std::vector<EngineCandidate> merge_by_turns(std::vector<std::vector<EngineCandidate>> lists) {
  std::vector<EngineCandidate> merged;
  std::size_t length = 0;
  for (const auto& list : lists) length = std::max(length, list.size());
  for (std::size_t i = 0; i < length; ++i) {
    for (auto& list : lists) {
      if (i < list.size() && !has_same(merged, list[i])) merged.push_back(std::move(list[i]));
    }
  }
  return merged;
}

// Moves the candidates into the usable and the excluded ones. Leaves out doubles.
void sort_candidates(std::vector<EngineCandidate> candidates, EngineCandidates& sorted) {
  for (EngineCandidate& candidate : candidates) {
    auto& target = candidate.exclusion.empty() ? sorted.usable : sorted.excluded;
    if (!has_same(target, candidate)) target.push_back(std::move(candidate));
  }
}

}  // namespace

bool PlannedEngine::has(EngineNote note) const {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

std::string PlannedEngine::text() const {
  std::vector<std::string_view> words;
  words.reserve(notes.size());
  for (const EngineNote note : notes) words.push_back(to_string(note));
  if (is_runtime_compiled) words.emplace_back("compiled at run time");
  constexpr std::int64_t kKibi = 1024;
  const std::string bytes =
      workspace ? fmt::format("{} KiB", (*workspace + kKibi - 1) / kKibi) : std::string("n/a");
  return fmt::format("engine {}: {}{}workspace {}", index, fmt::join(words, ", "),
                     words.empty() ? "" : "; ", bytes);
}

Result<std::vector<EngineCandidate>, BackendError> listed_engines(const CudnnTarget& target,
                                                                  const OperationGraph& graph,
                                                                  const Problem& problem,
                                                                  const Descriptor* device,
                                                                  EngineList list) {
  auto listed = configurations(target.api, graph, device, heuristics_mode(list));
  if (!listed) return unsupported("cuDNN: " + listed.error().message());
  std::vector<EngineCandidate> candidates;
  for (Descriptor& configuration : *listed) {
    PlannedEngine engine = read_engine(configuration);
    const std::string_view exclusion = forbidden_reason(problem, engine);
    std::string knobs = format_knobs(configuration);
    candidates.push_back({std::move(engine), std::move(configuration), list,
                          std::ssize(candidates) + 1, std::move(knobs), exclusion});
  }
  return candidates;
}

Result<EngineCandidates, BackendError> engine_candidates(const CudnnTarget& target,
                                                         const OperationGraph& graph,
                                                         const Problem& problem,
                                                         const Descriptor* device,
                                                         EngineChoice choice) {
  EngineCandidates candidates;
  std::optional<BackendError> error;  // error of the first list, the most informative one
  const auto take = [&](EngineList list) {
    auto listed = listed_engines(target, graph, problem, device, list);
    if (listed) return *std::move(listed);
    if (!error) error = std::move(listed).error();
    return std::vector<EngineCandidate>();
  };
  std::vector<std::vector<EngineCandidate>> preferred;
  preferred.push_back(take(EngineList::instant));
  if (choice == EngineChoice::all) preferred.push_back(take(EngineList::precise));
  sort_candidates(merge_by_turns(std::move(preferred)), candidates);
  if (choice == EngineChoice::all || candidates.usable.empty())
    sort_candidates(take(EngineList::fallback), candidates);
  if (!candidates.usable.empty()) return candidates;
  if (error) return *std::move(error);
  return unsupported(fmt::format(
      "cuDNN has no engine for this problem: {}",
      candidates.excluded.empty() ? no_engine_reason() : candidates.excluded.back().exclusion));
}

Result<Descriptor> finish_plan(const CudnnTarget& target, const Descriptor& configuration,
                               const Descriptor* device) {
  DescriptorBuilder builder(target.api, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "the plan");
  if (target.handle != nullptr) builder.handle(kPlanHandle, target.handle);
  builder.descriptor(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  if (device != nullptr) builder.descriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *device);
  return builder.finish();
}

DriverPresence find_driver() {
  const auto driver = DynamicLibrary::find_loaded("libcuda.so.1");
  if (!driver) return DriverPresence::absent;
  const bool is_stub = driver->path().find("/stubs/") != std::string::npos;
  return is_stub ? DriverPresence::stub : DriverPresence::present;
}

std::string format_knobs(const Descriptor& configuration) {
  constexpr std::int64_t kMaxKnobs = 32;  // an engine of cuDNN 9.19 has up to a dozen
  const auto choices = configuration.descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                 CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, kMaxKnobs);
  if (!choices) return "not readable: " + choices.error().message();
  if (choices->empty()) return "none";
  std::vector<std::string> words;
  for (const Descriptor& choice : *choices) {
    const auto type = choice.code(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE);
    const auto value = choice.integer(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    if (!type) return "not readable: " + type.error().message();
    words.push_back(fmt::format("{}={}", *type, value ? fmt::to_string(*value) : "n/a"));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

Result<std::vector<PlannedEngine>, BackendError> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits) {
  BENCH_ASSIGN_OR_RETURN(const OperationGraph graph, operation_graph(api, problem));
  return planned_engines(api, graph, problem, device_json, limits);
}

Result<std::vector<PlannedEngine>, BackendError> planned_engines(
    const std::shared_ptr<const CudnnApi>& api, const OperationGraph& graph, const Problem& problem,
    std::string_view device_json, const PlanningLimits& limits) {
  const auto device = device_properties(api, device_json);
  if (!device)
    return BackendError{BackendError::Kind::failed, "cuDNN: " + device.error().message()};
  BENCH_ASSIGN_OR_RETURN(auto candidates,
                         engine_candidates(api, graph, problem, &*device, EngineChoice::first));
  std::vector<PlannedEngine> engines;
  for (EngineCandidate& candidate : candidates.usable) {
    const auto count = static_cast<std::int64_t>(engines.size());
    if (count == limits.engines) break;
    if (count < limits.workspaces) {
      const auto plan = finish_plan(api, candidate.configuration, &*device);
      if (plan) candidate.engine.workspace = read_workspace(*plan);
    }
    engines.push_back(std::move(candidate.engine));
  }
  return engines;
}

std::string ListedEngine::text() const {
  std::string text = fmt::format("{} {}: {}", to_string(list), position, engine.text());
  if (knobs != "none") text += "; knobs " + knobs;
  if (!exclusion.empty()) text += "; not used: " + exclusion;
  return text;
}

Result<std::vector<ListedEngine>, BackendError> all_listed_engines(
    const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
    std::string_view device_json) {
  BENCH_ASSIGN_OR_RETURN(const OperationGraph graph, operation_graph(api, problem));
  const auto device = device_properties(api, device_json);
  if (!device)
    return BackendError{BackendError::Kind::failed, "cuDNN: " + device.error().message()};
  std::vector<EngineCandidate> candidates;
  std::optional<BackendError> error;
  for (const EngineList list : {EngineList::instant, EngineList::precise, EngineList::fallback}) {
    auto listed = listed_engines(api, graph, problem, &*device, list);
    if (!listed && !error) error = listed.error();
    if (!listed) continue;
    for (EngineCandidate& candidate : *listed) {
      if (!has_same(candidates, candidate)) candidates.push_back(std::move(candidate));
    }
  }
  if (candidates.empty() && error) return *std::move(error);
  std::vector<ListedEngine> engines;
  for (EngineCandidate& candidate : candidates) {
    ListedEngine listed{candidate.list, candidate.position, std::move(candidate.engine),
                        std::move(candidate.knobs), std::string(candidate.exclusion)};
    if (listed.exclusion.empty() && !listed.engine.is_runtime_compiled) {
      const auto plan = finish_plan(api, candidate.configuration, &*device);
      if (plan) listed.engine.workspace = read_workspace(*plan);
      if (!plan) listed.exclusion = plan.error().message();
    }
    engines.push_back(std::move(listed));
  }
  return engines;
}

std::optional<std::int64_t> read_workspace(const Descriptor& plan) {
  return plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

std::int64_t estimated_conversion_bytes(const PlannedEngine& engine) {
  return 2 * engine.workspace.value_or(0);
}

}  // namespace bench::ops::cuda
