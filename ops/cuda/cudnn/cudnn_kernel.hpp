// SPDX-License-Identifier: Apache-2.0
// The kernel of a problem that one cuDNN operation graph computes.
#pragma once

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/execution_plan.hpp"
#include "ops/cuda/cudnn/session.hpp"
#include "ops/cuda/runtime/kernel.hpp"

#include <map>
#include <memory>
#include <string>

namespace bench::ops::cuda {

struct ProblemPlan {
  std::shared_ptr<const ExecutionPlan> main;
  std::shared_ptr<const ExecutionPlan> maxima;  // for the gradient of a maximum: maxima_graph()
  std::map<std::string, std::string> details;   // how the plan was chosen
};

// Refusal (skipped): not enough memory for the workspace.
Result<std::unique_ptr<Kernel>, Refusal> make_cudnn_kernel(DeviceParts parts,
                                                           std::shared_ptr<CudnnSession> session,
                                                           const Problem& problem,
                                                           ProblemPlan plan);

}  // namespace bench::ops::cuda
