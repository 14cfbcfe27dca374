// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/problem_kernels.hpp"

#include "base/processors.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/cuda/network/kernels.hpp"
#include "ops/cuda/network/packed_kernel.hpp"
#include "ops/operator.hpp"
#include "ops/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Whether no other way to create the kernel needs to be tried.
template <class ResultType>
bool is_final(const ResultType& result) {
  return result.ok() || result.error().kind != BackendError::Kind::unsupported;
}

// The reason of create_in_two_parts() if the problem has no second part. create() does not report
// this reason.
constexpr const char* kNotSplit = "the problem is not split into two parts";

bool needs_max_pool_indices(const Problem& problem) {
  return problem.op->name == "pool" && problem.direction == Direction::backward_data &&
         problem.parameters.word("function") == kPoolMax;
}

// Replaces the layout `any` by the layout that it selects for the problem. Both parts of a split
// problem must use the same layout.
Problem fix_layout(Problem problem) {
  problem.layout = chosen_layout(problem);
  return problem;
}

// Makes plans keep the session of their handle alive.
void keep_session(const std::shared_ptr<CudnnSession>& session,
                  std::vector<std::shared_ptr<const ExecutionPlan>>& plans) {
  struct Kept {
    std::shared_ptr<CudnnSession> session;
    std::shared_ptr<const ExecutionPlan> plan;  // destroyed first
  };
  for (auto& plan : plans) {
    auto kept = std::make_shared<const Kept>(Kept{session, std::move(plan)});
    plan = std::shared_ptr<const ExecutionPlan>(kept, kept->plan.get());
  }
}

// The key in ChoiceStore of an engine that was rejected for a plan, as number `index`.
std::string rejection_key(std::size_t index, const std::string& plan) {
  return fmt::format("rejected {} {}", index, plan);
}
// What separates an engine from the reason in ChoiceStore.
constexpr std::string_view kBeforeReason = ": ";

std::string format_rejected(std::span<const RejectedEngine> rejected) {
  std::vector<std::string> texts;
  for (const RejectedEngine& each : rejected) {
    texts.push_back(fmt::format("{}{}{}", each.engine, kBeforeReason, each.reason));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace

void ProblemKernels::plan_ahead(std::span<const Problem> problems) {
  if (!session_) return;
  const Nanoseconds start = parts_.runtime->now();
  struct Task {
    std::string key;
    const Problem* problem;
    std::optional<MaybePlans> plans;
  };
  std::vector<Task> tasks;
  for (const Problem& problem : problems) {
    std::string key = tuned_key(problem);
    const bool is_known = plans_.contains(key) || failures_.contains(key) ||
                          planned_ahead_.contains(key) ||
                          std::ranges::find(tasks, key, &Task::key) != tasks.end();
    if (!is_known && !known_gap(problem)) tasks.push_back({std::move(key), &problem, std::nullopt});
  }
  if (tasks.empty()) return;
  const std::vector<int> processors = usable_processors();
  const std::size_t threads = std::min(tasks.size(), processors.size());
  // A handle may be used by one thread at a time, so each thread has its own.
  while (planners_.size() < threads) {
    auto planner = CudnnSession::create((*session_)->target().api, parts_.runtime);
    if (!planner) break;  // the threads that have a handle do the work
    planners_.push_back(*std::move(planner));
  }
  if (planners_.empty()) return;
  run_in_parallel(tasks.size(), std::span(processors).first(std::min(threads, planners_.size())),
                  [&](std::size_t task, std::size_t thread) {
                    auto plans = create_plans(*planners_[thread], *tasks[task].problem);
                    if (plans) keep_session(planners_[thread], *plans);
                    tasks[task].plans = std::move(plans);
                  });
  for (Task& task : tasks) planned_ahead_.emplace(std::move(task.key), *std::move(task.plans));
  add_planning_time(parts_.runtime->now() - start);
}

ProblemKernels::MaybePlans ProblemKernels::create_plans(CudnnSession& session,
                                                        const Problem& problem) const {
  BENCH_ASSIGN_OR_RETURN(OperationGraph graph, operation_graph(session.target(), problem));
  return create_execution_plans(session, problem, std::move(graph),
                                std::max<std::int64_t>(1, tuning_), find_rejected(problem));
}

ProblemKernels::MaybePlans ProblemKernels::take_plans(const Problem& problem) {
  auto planned = planned_ahead_.extract(tuned_key(problem));
  return planned ? std::move(planned.mapped()) : create_plans(**session_, problem);
}

void ProblemKernels::add_planning_time(Nanoseconds time) {
  planning_time_ = planning_time_.value_or(Nanoseconds(0)) + time;
}

void ProblemKernels::return_planning_time(const Kernel& kernel) {
  const auto details = kernel.details();
  if (const auto time = details.find(kPlanningDetail); time != details.end())
    add_planning_time(Nanoseconds(std::stoll(time->second)));
}

Result<std::vector<ProblemPlan>, BackendError> ProblemKernels::make_plans(const Problem& problem) {
  std::shared_ptr<const ExecutionPlan> maxima;
  if (needs_max_pool_indices(problem)) {
    BENCH_ASSIGN_OR_RETURN(OperationGraph forward, maxima_graph((*session_)->target(), problem));
    BENCH_ASSIGN_OR_RETURN(auto forward_plans,
                           create_execution_plans(**session_, problem, std::move(forward), 1));
    maxima = forward_plans.front();
  }
  BENCH_ASSIGN_OR_RETURN(auto main_plans, take_plans(problem));
  std::vector<ProblemPlan> plans;
  for (auto& main_plan : main_plans) plans.push_back({std::move(main_plan), maxima, {}});
  return plans;
}

Result<ProblemPlan, BackendError> ProblemKernels::make_plan(const Problem& problem) {
  const Nanoseconds start = parts_.runtime->now();
  auto plans = make_plans(problem);
  const Nanoseconds planned = parts_.runtime->now();
  add_planning_time(planned - start);
  if (!plans) return std::move(plans).error();
  ProblemPlan chosen = plans->front();
  if (tuning_ > 0) {
    BENCH_ASSIGN_OR_RETURN(chosen, choose_fastest_plan(problem, *std::move(plans)));
    const Nanoseconds tuning_time = parts_.runtime->now() - planned;
    chosen.details["setup.tuning_ns"] = fmt::to_string(tuning_time.count());
  }
  const std::vector<RejectedEngine> rejected = find_rejected(problem);
  if (!rejected.empty()) chosen.details["rejected_engines"] = format_rejected(rejected);
  return chosen;
}

Result<ProblemPlan, BackendError> ProblemKernels::choose_fastest_plan(
    const Problem& problem, std::vector<ProblemPlan> plans) {
  // The kernels that are tried must not report the device's setup times. The final kernel does.
  Runtime& runtime = *parts_.runtime;
  const auto setup = runtime.take_setup();
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<ProblemPlan> kernel_plans;  // the plan of each kernel
  std::vector<std::string> names;
  for (ProblemPlan& plan : plans) {
    auto kernel = make_cudnn_kernel(parts_, *session_, problem, plan);
    if (!kernel && kernel.error().kind == BackendError::Kind::failed)
      return std::move(kernel).error();
    if (!kernel) continue;  // not enough memory for its workspace
    kernels.push_back(*std::move(kernel));
    names.push_back(fmt::format("{} ({})", kernels.back()->implementation(), plan.main->knobs));
    kernel_plans.push_back(std::move(plan));
  }
  // No plan's workspace fits into memory. The caller creates a kernel from the first plan again,
  // whose error reports how much memory is missing.
  if (kernels.empty()) return std::move(plans.front());
  BENCH_ASSIGN_OR_RETURN(const TunedChoice choice,
                         tuner_.choose(tuned_key(problem), kernels, names));
  for (const auto& [name, time] : setup) runtime.note_setup(name, time);
  ProblemPlan best = std::move(kernel_plans[choice.best]);
  choice.add_to(best.details);
  return best;
}

std::vector<RejectedEngine> ProblemKernels::find_rejected(const Problem& problem) const {
  const std::string key = plan_key(problem);
  const auto own = rejected_.find(key);
  std::vector<RejectedEngine> rejected =
      own == rejected_.end() ? std::vector<RejectedEngine>() : own->second;
  // Those that another process of the case has rejected, and this one has not tried.
  while (const auto more =
             parts_.runtime->choices().find_fixed(rejection_key(rejected.size(), key))) {
    const std::size_t end = std::min(more->find(kBeforeReason), more->size());
    const std::size_t reason = std::min(end + kBeforeReason.size(), more->size());
    rejected.push_back({more->substr(0, end), more->substr(reason)});
  }
  return rejected;
}

// Passes on to further processes which engines were rejected.
void ProblemKernels::note_rejected(const Problem& problem) const {
  const std::string key = plan_key(problem);
  const std::vector<RejectedEngine> rejected = find_rejected(problem);
  for (std::size_t i = 0; i < rejected.size(); ++i) {
    std::string text = format_rejected(std::span(rejected).subspan(i, 1));
    std::ranges::replace_if(
        text, [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
    parts_.runtime->choices().note(rejection_key(i, key), text);
  }
}

std::string ProblemKernels::tuned_key(const Problem& problem) const {
  return fmt::format("{} {} {}{}", plan_key(problem), tuning_, find_rejected(problem).size(),
                     tuning_ > 0 ? tuned_caches_key(parts_.runtime->tuned_caches()) : "");
}

Result<ProblemPlan, BackendError> ProblemKernels::plan(const Problem& problem) {
  const std::string key = tuned_key(problem);
  if (const auto cached = plans_.find(key); cached != plans_.end()) {
    ProblemPlan plan = cached->second;
    std::erase_if(plan.details,
                  [](const auto& detail) { return detail.first.starts_with("setup."); });
    plan.details["plan_cache"] = "hit";
    parts_.runtime->choices().note_again(key);
    return plan;
  }
  if (const auto failed = failures_.find(key); failed != failures_.end()) return failed->second;
  auto new_plan = make_plan(problem);
  if (new_plan) plans_.emplace(key, *new_plan);
  // cuDNN would take as long to answer the same again.
  if (!new_plan && new_plan.error().kind == BackendError::Kind::unsupported)
    failures_.emplace(key, new_plan.error());
  return new_plan;
}

bool ProblemKernels::reject_last_engine(std::string_view reason) {
  constexpr std::size_t kMaxRejected = 8;  // enough to pass the variants of one engine
  const auto last = std::exchange(last_plan_, std::nullopt);
  if (!last || parts_.runtime->lost()) return false;
  std::vector<RejectedEngine> before = find_rejected(last->problem);
  if (before.size() >= kMaxRejected) return false;
  std::vector<RejectedEngine>& rejected = rejected_[plan_key(last->problem)];
  rejected = before;
  rejected.push_back({last->engine, std::string(reason)});
  auto next = make_plan(last->problem);
  if (!next) {
    rejected = std::move(before);
    return false;
  }
  plans_.emplace(tuned_key(last->problem), *std::move(next));
  return true;
}

ProblemKernels::KernelResult ProblemKernels::create_from_graph(const Problem& problem) {
  if (auto gap = known_gap(problem)) return unsupported(*std::move(gap));
  if (!session_) return session_.error();
  BENCH_ASSIGN_OR_RETURN(ProblemPlan problem_plan, plan(problem));
  note_rejected(problem);
  const auto time = take_planning_time();
  if (time) problem_plan.details[kPlanningDetail] = fmt::to_string(time->count());
  last_plan_ = LastPlan{problem, problem_plan.main->name()};
  auto kernel = make_cudnn_kernel(parts_, *session_, problem, std::move(problem_plan));
  if (!kernel && time) add_planning_time(*time);
  return kernel;
}

ProblemKernels::KernelResult ProblemKernels::create_with_epilogue(std::unique_ptr<Kernel> first,
                                                                  const Problem& problem,
                                                                  DataType intermediate_dtype) {
  auto kernel = append_epilogue(parts_, launcher_, first, problem, intermediate_dtype);
  if (!kernel && first) return_planning_time(*first);
  return kernel;
}

ProblemKernels::KernelResult ProblemKernels::create_with_epilogue(const Problem& problem) {
  BackendError error = unsupported(kNotSplit);
  for (const DataType intermediate_dtype : intermediate_types(problem)) {
    auto first = create_from_graph(conv_part(problem, intermediate_dtype));
    if (first) return create_with_epilogue(*std::move(first), problem, intermediate_dtype);
    if (first.error().kind != BackendError::Kind::unsupported) return first;
    error = std::move(first).error();
  }
  return error;
}

ProblemKernels::KernelResult ProblemKernels::create_product(const Problem& problem) {
  if (!products_) return unsupported("there is no library for matrix products");
  return products_(problem, tuning_);
}

ProblemKernels::KernelResult ProblemKernels::create_with_bias_gradient(const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> first,
                         create_from_graph(conv_part(problem, problem.dtype)));
  const BufferRole roles[] = {BufferRole::input, BufferRole::output};
  KernelChain chain;
  chain.steps.push_back(
      {"", std::move(first), {tensor_place(0), tensor_place(1), tensor_place(2)}, "conv"});
  chain.steps.push_back(
      {"",
       make_native_kernel(parts_, launcher_, bias_gradient_form(problem, requested_layout(problem)),
                          roles),
       {tensor_place(1), tensor_place(3)},
       "bias_gradient"});
  chain.tensors = chain_tensors(chain.steps, problem.tensors.size());
  return make_chain_kernel(parts_, std::move(chain), IntermediateStorage::workspace);
}

ProblemKernels::KernelResult ProblemKernels::create_in_two_parts(const Problem& problem) {
  switch (conv_split(problem)) {
    case ConvSplit::epilogue:
      return create_with_epilogue(fix_layout(problem));
    case ConvSplit::bias_gradient:
      return create_with_bias_gradient(fix_layout(problem));
    case ConvSplit::none:
      break;
  }
  return unsupported(kNotSplit);
}

ProblemKernels::KernelResult ProblemKernels::create_native(const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(NativeForm form, native_form(problem));
  return make_native_kernel(parts_, launcher_, std::move(form), problem);
}

// The source is padded in each execution, so that the time of padding is part of the time of the
// convolution. The weights are padded when they are packed, as they are constant.
ProblemKernels::KernelResult ProblemKernels::create_padded(const Problem& problem, KernelWay way) {
  const auto padded = padded_part(problem);
  if (!padded) return unsupported("cuDNN does not gain from further channels of the source");
  BENCH_ASSIGN_OR_RETURN(std::unique_ptr<Kernel> convolution, way == KernelWay::graph
                                                                  ? create_from_graph(*padded)
                                                                  : create_in_two_parts(*padded));
  const Tensor& source = problem.tensors[0];
  const BufferRole roles[] = {BufferRole::input, BufferRole::output};
  NativeForm form = padding_form(source.dims, source.dtype, padded->tensors[0].dims[1]);
  const ChainPlace padded_source = intermediate_place(0);
  KernelChain chain;
  chain.intermediates = {convolution->buffers().front().size.count};
  std::vector<ChainPlace> places = {padded_source};
  for (std::size_t i = 1; i < problem.tensors.size(); ++i) places.push_back(tensor_place(i));
  chain.steps.push_back({"",
                         make_native_kernel(parts_, launcher_, std::move(form), roles),
                         {tensor_place(0), padded_source},
                         "padding"});
  chain.steps.push_back({"", std::move(convolution), std::move(places), "conv"});
  chain.tensors = chain_tensors(chain.steps, problem.tensors.size());
  return make_chain_kernel(parts_, std::move(chain), IntermediateStorage::workspace);
}

ProblemKernels::KernelResult ProblemKernels::create(const Problem& problem, KernelWay way) {
  last_plan_.reset();
  switch (way) {
    case KernelWay::graph:
      return create_from_graph(problem);
    case KernelWay::parts:
      return create_in_two_parts(problem);
    case KernelWay::padded:
      return create_padded(problem, KernelWay::graph);
    case KernelWay::padded_parts:
      return create_padded(problem, KernelWay::parts);
    case KernelWay::native:
      break;
  }
  return create_native(problem);
}

ProblemKernels::KernelResult ProblemKernels::create(const Problem& problem) {
  last_plan_.reset();
  // If cuDNN does not have this operator, its native kernel reports a more useful reason.
  if (find_cudnn_entry(problem.op->name) == nullptr) return create_native(problem);
  auto cudnn_kernel = create_from_graph(problem);
  if (is_final(cudnn_kernel)) return cudnn_kernel;
  auto split_kernel = create_in_two_parts(problem);
  if (is_final(split_kernel)) return split_kernel;
  auto native_kernel = create_native(problem);
  if (is_final(native_kernel)) return native_kernel;
  // The reason for the same convolution without bias and post-ops.
  const std::string& split_reason = split_kernel.error().reason;
  const std::string reason =
      split_reason == kNotSplit || split_reason == cudnn_kernel.error().reason
          ? cudnn_kernel.error().reason
          : fmt::format("{}; without bias and post-ops: {}", cudnn_kernel.error().reason,
                        split_reason);
  return unsupported(reason);
}

}  // namespace bench::ops::cuda
