// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

Result<NativeForm, BackendError> softmax_form(const Problem& problem) {
  const Dims& dims = problem.tensors[0].dims;
  const MemoryLayout layout = requested_layout(problem);
  std::vector<std::size_t> order(dims.size());  // order of the dimensions in memory
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (layout == MemoryLayout::nhwc && dims.size() > 2) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  SoftmaxPlan plan;
  const int log = problem.parameters.flag("log") ? 1 : 0;
  const int gradient = problem.direction == Direction::backward_data ? 2 : 0;
  plan.function = static_cast<SoftmaxFunction>(gradient + log);
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t* count = &plan.dense.outer;
  for (const std::size_t dim : order) {
    if (dim == axis) {
      plan.dense.size = dims[dim];
      count = &plan.dense.inner;
    } else {
      *count *= dims[dim];
    }
  }
  return NativeForm{"bench:softmax_block", "softmax", NativePlan(plan),
                    native_tensors(problem, layout)};
}

}  // namespace

extern const NativeEntry softmax_cuda_native;
const NativeEntry softmax_cuda_native = {
    .op = "softmax", .form = softmax_form, .host = {SoftmaxPlan::kKernel, run_rows<SoftmaxPlan>}};

}  // namespace bench::ops::cuda
