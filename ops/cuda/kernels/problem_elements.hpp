// SPDX-License-Identifier: Apache-2.0
// Builds native forms that are one elementwise launch over a problem's tensors.
#pragma once

#include "base/result.hpp"
#include "ops/backend/kernel.hpp"
#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_forms.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Collects the tensors of a native form. All tensors have the layout `layout`, except those with
// one value per channel, which are plain. The result is the problem's last tensor.
class ProblemElements {
 public:
  ProblemElements(const Problem& problem, MemoryLayout layout);

  ElementwisePlanner& planner() { return planner_; }

  // The following functions add a tensor and return the index of its operand.

  // Adds a tensor of the problem. Each of its sizes must equal the result's or be 1. Sizes are
  // aligned at the last dimension.
  int operand(std::size_t tensor);
  // Adds a tensor of the problem that has one value per channel.
  int channels(std::size_t tensor);
  // Adds an intermediate result, which has the result's sizes and the type `dtype`.
  int intermediate(DataType dtype);

  // Adds the result and plans the launch. `kind` becomes NativeForm::kind.
  Result<NativeForm, BackendError> finish(std::string kind);

 private:
  int add(NativeTensor tensor);  // returns the tensor's number

  const Problem& problem_;
  MemoryLayout layout_;
  std::vector<std::int64_t> dims_;
  ElementwisePlanner planner_;
  std::vector<NativeTensor> tensors_;
};

ElementStep function_step(Function function, double alpha, double beta);
ElementStep combine_step(Combination combination, int operand);

}  // namespace bench::ops::cuda
