// SPDX-License-Identifier: Apache-2.0
#include "ops/reduction/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"
#include "ops/operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace bench::ops::cuda {
namespace {

// Adds an outer dimension. One that continues the outermost dimension is merged with it.
void add_outer(StridedDims& dims, std::int64_t size, std::int64_t stride) {
  if (dims.rank > 0 && dims.sizes[0] * dims.strides[0] == stride) {
    dims.sizes[0] *= size;
    return;
  }
  std::copy_backward(dims.sizes, dims.sizes + dims.rank, dims.sizes + dims.rank + 1);
  std::copy_backward(dims.strides, dims.strides + dims.rank, dims.strides + dims.rank + 1);
  dims.sizes[0] = size;
  dims.strides[0] = stride;
  ++dims.rank;
}

Result<NativeForm, BackendError> reduction_form(const Problem& problem) {
  const Dims& shape = problem.tensors[0].dims;
  if (shape.size() > kMaxDims) {
    return unsupported(
        fmt::format("{} dimensions; the kernel has at most {}", shape.size(), kMaxDims));
  }
  if (is_in_nhwc(problem)) {
    return unsupported("the kernel reduces plain tensors; leave `layout: nhwc` out");
  }
  const Dims& axes = problem.parameters.numbers("axis");
  const auto functions = find_parameter(problem.op->parameters, "function")->words;
  const auto function = std::ranges::find(functions, problem.parameters.word("function"));
  ReductionPlan plan;
  plan.function = static_cast<ReductionFunction>(function - functions.begin());
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const bool is_reduced = std::ranges::find(axes, static_cast<std::int64_t>(axis)) != axes.end();
    add_outer(is_reduced ? plan.reduced : plan.kept, shape[axis], stride);
    stride *= shape[axis];
  }
  return NativeForm{"bench:reduction_block", "reduction", NativePlan(plan),
                    native_tensors(problem, MemoryLayout::plain)};
}

}  // namespace

extern const NativeEntry reduction_cuda_native;
const NativeEntry reduction_cuda_native = {
    .op = "reduction",
    .form = reduction_form,
    .host = {ReductionPlan::kKernel, run_rows<ReductionPlan>}};

}  // namespace bench::ops::cuda
