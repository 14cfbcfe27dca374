// SPDX-License-Identifier: Apache-2.0
// Operation graphs with the plans that execute them on a session's device.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/graph.hpp"
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/session.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {

struct ExecutionPlan {
  std::shared_ptr<const OperationGraph> graph;
  Descriptor configuration, plan;
  PlannedEngine engine;
  std::string knobs;
  Bytes workspace;
};

// Returns the first `most` plans that can be finished, in the heuristics' order. Refusal: no plan
// can be finished; the reason is that of the first choice.
Result<std::vector<std::shared_ptr<const ExecutionPlan>>, Refusal> execution_plans(
    CudnnSession& session, const Problem& problem, OperationGraph graph, std::int64_t most);

}  // namespace bench::ops::cuda
