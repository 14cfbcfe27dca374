// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/problem_elements.hpp"

#include <utility>

namespace bench::ops::cuda {
namespace {

using Sizes = std::vector<std::int64_t>;

// Returns `dims` with `rank` dimensions. Adds dimensions of size 1 in front, as broadcasts do.
Sizes align_dims(const Dims& dims, std::size_t rank) {
  Sizes result(rank - dims.size(), 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

// Returns the strides for reading a tensor at every element of a result: 0 in broadcast dimensions.
Sizes broadcast_strides(const Sizes& dims, Sizes strides) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) strides[i] = 0;
  }
  return strides;
}

}  // namespace

ProblemElements::ProblemElements(const Problem& problem, MemoryLayout layout)
    : problem_(problem),
      layout_(layout),
      dims_(problem.tensors.back().dims),
      planner_(dims_, to_precision(problem.dtype)) {}

int ProblemElements::operand(std::size_t tensor) {
  const Tensor& problem_tensor = problem_.tensors[tensor];
  const Sizes dims = align_dims(problem_tensor.dims, dims_.size());
  const Sizes strides = layout_strides(dims, layout_);
  const int number = add({strided_arrangement(dims, strides), problem_tensor.dtype,
                          layout_name(problem_tensor.dims, layout_)});
  return planner_.operand(number, problem_tensor.dtype, broadcast_strides(dims, strides));
}

int ProblemElements::channels(std::size_t tensor) {
  const Tensor& problem_tensor = problem_.tensors[tensor];
  Sizes strides(dims_.size(), 0);
  strides[1] = 1;
  const int number = add(native_tensor(problem_tensor, MemoryLayout::plain));
  return planner_.operand(number, problem_tensor.dtype, std::move(strides));
}

int ProblemElements::intermediate(DataType dtype) {
  const int number = add({make_arrangement(dims_, layout_), dtype, layout_name(dims_, layout_)});
  return planner_.operand(number, dtype, layout_strides(dims_, layout_));
}

Result<NativeForm, BackendError> ProblemElements::finish(std::string kind) {
  const Tensor& problem_tensor = problem_.tensors.back();
  const int number = add(native_tensor(problem_tensor, layout_));
  planner_.destination(number, problem_tensor.dtype, layout_strides(dims_, layout_));
  BENCH_ASSIGN_OR_RETURN(const ElementwisePlan plan, planner_.finish());
  return NativeForm{"bench:elementwise", std::move(kind), NativePlan(plan), std::move(tensors_)};
}

int ProblemElements::add(NativeTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

ElementStep function_step(Function function, double alpha, double beta) {
  ElementStep step;
  step.function = function;
  step.alpha = alpha;
  step.beta = beta;
  return step;
}

ElementStep combine_step(Combination combination, int operand) {
  ElementStep step;
  step.kind = ElementStep::Kind::combine;
  step.combination = combination;
  step.operand = operand;
  return step;
}

}  // namespace bench::ops::cuda
