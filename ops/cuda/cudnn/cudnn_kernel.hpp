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
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Operation graphs with the plans that execute them on a session's device.

struct ExecutionPlan {
  std::shared_ptr<const OperationGraph> graph;
  Descriptor configuration, plan;
  PlannedEngine engine;
  std::string knobs;
  Bytes workspace;
};

// Returns the first `most` plans that can be finished, in the heuristics' order. BackendError: no
// plan can be finished; the reason is that of the first choice.
Result<std::vector<std::shared_ptr<const ExecutionPlan>>, BackendError> execution_plans(
    CudnnSession& session, const Problem& problem, OperationGraph graph, std::int64_t most);

// The arrangement of a problem's tensors in the buffers that an operation graph reads and writes.
// Pure.

// Arranges tensor number `tensor` of the problem, which the graph describes as `form`.
PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form);

// Convert values of a batch norm tensor in place, to and from the form that cuDNN reads.
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
