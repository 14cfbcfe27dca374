// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/cuda_native.hpp"

#include "ops/cuda/kernels/elementwise_planner.hpp"
#include "ops/cuda/kernels/native_entry.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
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
  plan.type = to_element(problem.dtype);
  plan.precision = to_precision(problem.dtype);
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t* count = &plan.outer;
  for (const std::size_t dim : order) {
    if (dim == axis) {
      plan.size = dims[dim];
      count = &plan.inner;
    } else {
      *count *= dims[dim];
    }
  }
  return NativeForm{
      "bench:softmax_block",
      "softmax",
      NativePlan(plan),
      {native_tensor(problem.tensors[0], layout), native_tensor(problem.tensors[1], layout)}};
}

template <class T>
void compute_rows(const SoftmaxPlan& plan, const Addresses& tensors) {
  for (std::int64_t row = 0; row < plan.outer * plan.inner; ++row) {
    const std::int64_t start = find_row_start(plan, row);
    OnlineSum<T> whole;
    for (int lane = 0; lane < kHostLanes; ++lane) {
      whole =
          merge_sums(whole, compute_partial_sum<T>(plan, tensors.at[0], start, lane, kHostLanes));
    }
    for (int lane = 0; lane < kHostLanes; ++lane) {
      write_results<T>(plan, tensors.at[0], tensors.at[1], start, whole, lane, kHostLanes);
    }
  }
}

void run_softmax(const NativePlan& plan, const Addresses& tensors) {
  const auto softmax = plan.as<SoftmaxPlan>();
  run_by(softmax.precision, [&](auto zero) { compute_rows<decltype(zero)>(softmax, tensors); });
}

}  // namespace

extern const NativeEntry softmax_cuda_native;
const NativeEntry softmax_cuda_native = {
    .op = "softmax", .form = softmax_form, .host = {SoftmaxPlan::kKernel, run_softmax}};

}  // namespace bench::ops::cuda
