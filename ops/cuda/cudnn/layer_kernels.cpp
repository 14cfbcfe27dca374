// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/layer_kernels.hpp"

#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

struct WayRow {
  KernelWay way;
  std::string_view name;
};
// The first way is the default: it wins if no other one is clearly faster.
constexpr WayRow kWays[] = {{KernelWay::graph, "graph"},
                            {KernelWay::parts, "parts"},
                            {KernelWay::native, "native"},
                            {KernelWay::padded, "padded"},
                            {KernelWay::padded_parts, "padded parts"}};

// The kernels of all ways that exist, in the order of kWays.
struct Candidates {
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::string> names;
  std::vector<KernelWay> ways;
  std::vector<std::optional<ProblemKernels::LastPlan>> plans;
};

Result<Candidates, BackendError> make_candidates(ProblemKernels& problem_kernels,
                                                 const Problem& problem) {
  Candidates candidates;
  for (const auto& [way, name] : kWays) {
    auto kernel = problem_kernels.create(problem, way);
    if (!kernel && kernel.error().kind == BackendError::Kind::failed)
      return std::move(kernel).error();
    if (!kernel) continue;  // there is no such kernel, or not enough memory for its workspace
    candidates.names.push_back(fmt::format("{} {}", name, (*kernel)->implementation()));
    candidates.kernels.push_back(*std::move(kernel));
    candidates.ways.push_back(way);
    candidates.plans.push_back(problem_kernels.last_plan());
  }
  return candidates;
}

// Adds what the graphs of a problem without padding compute: the problem, and its convolution
// alone.
void add_graph_problems(const Problem& problem, std::vector<Problem>& problems) {
  problems.push_back(problem);
  if (conv_split(problem) != ConvSplit::epilogue) return;
  Problem part = conv_part(problem, intermediate_types(problem).front());
  part.layout = chosen_layout(problem);
  problems.push_back(std::move(part));
}

// Returns what the graphs of all ways compute.
std::vector<Problem> graph_problems(const Problem& problem) {
  std::vector<Problem> problems;
  add_graph_problems(problem, problems);
  if (const auto padded = padded_part(problem)) add_graph_problems(*padded, problems);
  return problems;
}

}  // namespace

void LayerKernels::plan_ahead(std::span<const Problem> problems) {
  std::vector<Problem> all;
  for (const Problem& problem : problems) {
    if (find_cudnn_entry(problem.op->name) != nullptr)
      std::ranges::move(graph_problems(problem), std::back_inserter(all));
  }
  kernels_.plan_ahead(all);
}

Result<std::unique_ptr<Kernel>, BackendError> LayerKernels::create(const Problem& problem) {
  if (find_cudnn_entry(problem.op->name) == nullptr) return kernels_.create(problem);
  const std::string key = ways_key(problem);
  if (const auto chosen = choices_.find(key); chosen != choices_.end()) {
    note_again(problem, key);
    return kernels_.create(problem, chosen->second.way);
  }
  // Kernels that are only tried must not report the device's setup times. A later one does.
  Runtime& runtime = *parts_.runtime;
  const auto setup = runtime.take_setup();
  auto candidates = make_candidates(kernels_, problem);
  for (const auto& [name, time] : setup) runtime.note_setup(name, time);
  if (!candidates) return std::move(candidates).error();
  if (candidates->kernels.empty()) return kernels_.create(problem);  // reports all reasons
  if (candidates->kernels.size() == 1) {
    choices_[key] = {candidates->ways.front(), std::nullopt};
    kernels_.set_last_plan(std::move(candidates->plans.front()));
    return std::move(candidates->kernels.front());
  }
  const Nanoseconds start = runtime.now();
  BENCH_ASSIGN_OR_RETURN(const TunedChoice choice,
                         tuner_.choose(key, candidates->kernels, candidates->names));
  measuring_time_ += runtime.now() - start;
  for (std::size_t i = 0; i < candidates->kernels.size(); ++i) {
    if (i != choice.best) kernels_.return_planning_time(*candidates->kernels[i]);
  }
  kernels_.set_last_plan(std::move(candidates->plans[choice.best]));
  const std::string times = choice.candidates_text();
  choices_[key] = {candidates->ways[choice.best],
                   times.empty() ? choice.text() : fmt::format("{}: {}", choice.text(), times)};
  return std::move(candidates->kernels[choice.best]);
}

// Not the key of the engines of one graph. Ways are also measured without tuning.
std::string LayerKernels::ways_key(const Problem& problem) const {
  const std::string key = "ways " + kernels_.tuned_key(problem);
  return kernels_.tuning() > 0 ? key : key + tuned_caches_key(parts_.runtime->tuned_caches());
}

// Another process of the case tries all ways before it takes the chosen one.
void LayerKernels::note_again(const Problem& problem, const std::string& key) {
  ChoiceStore& choices = parts_.runtime->choices();
  choices.note_again(key);
  for (const Problem& graph : graph_problems(problem))
    choices.note_again(kernels_.tuned_key(graph));
}

std::optional<std::string> LayerKernels::choice(const Problem& problem) const {
  const auto chosen = choices_.find(ways_key(problem));
  if (chosen == choices_.end()) return std::nullopt;
  return chosen->second.text;
}

}  // namespace bench::ops::cuda
