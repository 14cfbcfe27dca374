// SPDX-License-Identifier: Apache-2.0
// The kernel of a problem that one cuDNN operation graph computes.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/forms.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/session.hpp"
#include "ops/cuda/kernels/arrangement.hpp"
#include "ops/cuda/runtime/kernel.hpp"
#include "ops/problem.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {

// Returns the name of an engine with its settings: "engine_6 12=3 8=0".
std::string engine_name(const PlannedEngine& engine, std::string_view knobs);

// A plan that executes an operation graph on a session's device.
struct ExecutionPlan {
  std::shared_ptr<const OperationGraph> graph;
  Descriptor configuration, plan;
  PlannedEngine engine;
  std::string knobs;
  Bytes workspace;
  // Engines that cuDNN's heuristics offer and that are not used, each with the reason:
  // "engine 0: they round their inputs". Empty if there are none.
  std::string excluded;

  std::string name() const { return engine_name(engine, knobs); }
};

// An engine that must not be used for a problem, with the reason.
struct RejectedEngine {
  std::string engine;  // ExecutionPlan::name()
  std::string reason;
};

// Returns at most `max_plans` plans, best first. For one plan, asks the heuristics' first list, and
// the others only if none of its plans can be finished; for more plans, asks all lists. Skips the
// engines in `rejected` and plans that cannot be finished. BackendError: no plan can be finished,
// with the reason of the first candidate.
Result<std::vector<std::shared_ptr<const ExecutionPlan>>, BackendError> create_execution_plans(
    CudnnSession& session, const Problem& problem, OperationGraph graph, std::int64_t max_plans,
    std::span<const RejectedEngine> rejected = {});

// Returns how the buffer of tensor number `tensor` stores the problem's tensor, which the graph
// describes as `form`. Pure.
PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form);

// Convert values of a batch norm's variance in place, to and from the form that cuDNN reads:
// 1 / sqrt(variance + epsilon).
void to_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);
void from_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon);

struct ProblemPlan {
  std::shared_ptr<const ExecutionPlan> main;
  std::shared_ptr<const ExecutionPlan> maxima;  // for the gradient of a maximum: maxima_graph()
  std::map<std::string, std::string> details;   // how the plan was chosen
};

// BackendError (skipped): not enough memory for the workspace.
Result<std::unique_ptr<Kernel>, BackendError> make_cudnn_kernel(
    DeviceParts parts, std::shared_ptr<CudnnSession> session, const Problem& problem,
    ProblemPlan plan);

}  // namespace bench::ops::cuda
