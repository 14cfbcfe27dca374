// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/execution_plan.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace bench::ops::cuda {

Result<std::vector<std::shared_ptr<const ExecutionPlan>>, Refusal> execution_plans(
    CudnnSession& session, const Problem& problem, OperationGraph graph, std::int64_t most) {
  const CudnnTarget target = session.target();
  const auto shared = std::make_shared<const OperationGraph>(std::move(graph));
  std::vector<std::shared_ptr<const ExecutionPlan>> plans;
  std::optional<std::string> first_reason;
  for (const EngineChoice choice : {EngineChoice::first, EngineChoice::fallback}) {
    auto candidates = engine_candidates(target, *shared, problem, nullptr, choice);
    if (!candidates) {
      if (!first_reason) first_reason = std::move(candidates).error().reason;
      continue;
    }
    for (EngineCandidate& candidate : *candidates) {
      if (static_cast<std::int64_t>(plans.size()) >= most) break;
      auto plan = finish_plan(target, candidate.configuration, nullptr);
      if (!plan) {
        if (!first_reason) first_reason = "cuDNN: " + plan.error().message();
        continue;
      }
      const std::int64_t workspace = workspace_of(*plan).value_or(0);
      candidate.engine.workspace = workspace;
      std::string knobs = knobs_of(candidate.configuration);
      plans.push_back(std::make_shared<const ExecutionPlan>(
          ExecutionPlan{shared, std::move(candidate.configuration), *std::move(plan),
                        std::move(candidate.engine), std::move(knobs), Bytes{workspace}}));
    }
    if (!plans.empty()) return plans;
  }
  return Refusal{Refusal::Kind::unsupported,
                 first_reason.value_or("cuDNN has no engine for this problem")};
}

}  // namespace bench::ops::cuda
