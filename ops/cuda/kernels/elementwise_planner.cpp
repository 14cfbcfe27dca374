// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/elementwise_planner.hpp"

#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace bench::ops::cuda {

Element to_element(DataType dtype) { return static_cast<Element>(dtype); }

Precision to_precision(DataType dtype) {
  return dtype == DataType::f64 ? Precision::wide : Precision::single;
}

std::optional<Function> find_function(std::string_view name) {
  const UnaryFunction* row = find_unary_function(name);
  if (row == nullptr) return std::nullopt;
  return static_cast<Function>(row - unary_functions().data());
}

std::optional<Combination> find_combination(std::string_view name) {
  const BinaryFunction* row = find_binary_function(name);
  if (row == nullptr) return std::nullopt;
  return static_cast<Combination>(row - binary_functions().data());
}

ElementwisePlanner::ElementwisePlanner(std::vector<std::int64_t> dims, Precision precision)
    : dims_(std::move(dims)), precision_(precision) {}

int ElementwisePlanner::operand(int tensor, DataType dtype, std::vector<std::int64_t> strides) {
  assert(strides.size() == dims_.size());
  operands_.push_back({tensor, dtype, std::move(strides)});
  return static_cast<int>(operands_.size()) - 1;
}

void ElementwisePlanner::destination(int tensor, DataType dtype,
                                     std::vector<std::int64_t> strides) {
  assert(strides.size() == dims_.size());
  destination_ = {tensor, dtype, std::move(strides)};
}

void ElementwisePlanner::outside(PaddingMode treatment, int block, int within, std::int64_t size,
                                 std::int64_t limit) {
  outside_ = treatment;
  block_ = static_cast<std::size_t>(block);
  within_ = static_cast<std::size_t>(within);
  block_size_ = size;
  limit_ = limit;
}

// Returns the dimensions with more than one element, outermost of the destination first.
std::vector<std::size_t> ElementwisePlanner::order() const {
  std::vector<std::size_t> order(dims_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t d) {
    const bool decides = outside_ != PaddingMode::none && (d == block_ || d == within_);
    return dims_[d] == 1 && !decides;
  });
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t d) { return destination_.strides[d]; });
  return order;
}

bool ElementwisePlanner::joins(std::size_t outer, std::size_t inner) const {
  if (outside_ != PaddingMode::none) return false;
  const auto follows = [&](const Tensor& tensor) {
    return tensor.strides[outer] == tensor.strides[inner] * dims_[inner];
  };
  return follows(destination_) && std::ranges::all_of(operands_, follows);
}

Result<ElementwisePlan, BackendError> ElementwisePlanner::finish() const {
  // A run of dimensions that merge into one: sizes multiply, and the stride is the innermost one's.
  struct Run {
    std::int64_t size;
    std::size_t inner;
  };
  std::vector<Run> runs;
  for (const std::size_t d : order()) {
    if (!runs.empty() && joins(runs.back().inner, d)) {
      runs.back() = {runs.back().size * dims_[d], d};
    } else {
      runs.push_back({dims_[d], d});
    }
  }
  if (runs.size() > kMaxDims || operands_.size() > kMaxOperands - 1 || steps_.size() > kMaxSteps) {
    return BackendError{BackendError::Kind::unsupported,
                        fmt::format("one launch takes {} dimensions, {} operands and {} functions",
                                    kMaxDims, kMaxOperands - 1, kMaxSteps)};
  }
  ElementwisePlan plan;
  plan.precision = precision_;
  plan.rank = std::max(1, static_cast<int>(runs.size()));
  const auto describe = [&](const Tensor& tensor) {
    Operand operand;
    operand.tensor = tensor.number;
    operand.type = to_element(tensor.dtype);
    for (std::size_t d = 0; d < runs.size(); ++d)
      operand.strides[d] = tensor.strides[runs[d].inner];
    return operand;
  };
  for (std::size_t d = 0; d < runs.size(); ++d) {
    plan.dims[d] = runs[d].size;
    plan.elements *= runs[d].size;
    if (runs[d].inner == block_) plan.block = static_cast<int>(d);
    if (runs[d].inner == within_) plan.within = static_cast<int>(d);
  }
  plan.operand_count = static_cast<int>(operands_.size());
  std::ranges::transform(operands_, plan.operands, describe);
  plan.destination = describe(destination_);
  plan.step_count = static_cast<int>(steps_.size());
  std::ranges::copy(steps_, plan.steps);
  plan.outside = outside_;
  plan.block_size = block_size_;
  plan.limit = limit_;
  return plan;
}

}  // namespace bench::ops::cuda
