// SPDX-License-Identifier: Apache-2.0
// Native forms that are one elementwise launch over a problem's tensors.
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

// All tensors have the layout `layout`, except those with one value per channel, which are plain.
// The result is the problem's last tensor.
class ProblemElements {
 public:
  ProblemElements(const Problem& problem, MemoryLayout layout);

  ElementwisePlanner& planner() { return planner_; }

  // These add a tensor and return its operand.
  // Each of its sizes equals the result's or is 1. Sizes are aligned at the last dimension.
  int operand(std::size_t tensor);
  // One value per channel.
  int channels(std::size_t tensor);
  // The result's sizes and another type.
  int intermediate(DataType dtype);

  // `kind`: NativeForm::kind.
  Result<NativeForm, BackendError> finish(std::string kind);

 private:
  int add(NativeTensor tensor);  // returns its number

  const Problem& problem_;
  MemoryLayout layout_;
  std::vector<std::int64_t> dims_;
  ElementwisePlanner planner_;
  std::vector<NativeTensor> tensors_;
};

ElementStep function_step(Function function, double alpha, double beta);
ElementStep combine_step(Combination combination, int operand);

}  // namespace bench::ops::cuda
