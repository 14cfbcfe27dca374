// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/kernels/elementwise_planner.hpp"

#include "ops/cuda/kernels/element_functions.hpp"
#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <span>
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

void ElementwisePlanner::set_padding(PaddingMode mode, int block, int within, std::int64_t size,
                                     std::int64_t limit) {
  padding_ = mode;
  block_ = static_cast<std::size_t>(block);
  within_ = static_cast<std::size_t>(within);
  block_size_ = size;
  limit_ = limit;
}

// Returns the dimensions, the destination's outermost first. Omits dimensions with one element,
// except those that locate padding.
std::vector<std::size_t> ElementwisePlanner::order_dimensions() const {
  std::vector<std::size_t> order(dims_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t d) {
    const bool locates_padding = padding_ != PaddingMode::none && (d == block_ || d == within_);
    return dims_[d] == 1 && !locates_padding;
  });
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t d) { return destination_.strides[d]; });
  return order;
}

// Whether two dimensions are contiguous in all tensors.
bool ElementwisePlanner::can_merge(std::size_t outer, std::size_t inner) const {
  if (padding_ != PaddingMode::none) return false;
  const auto is_contiguous = [&](const Tensor& tensor) {
    return tensor.strides[outer] == tensor.strides[inner] * dims_[inner];
  };
  return is_contiguous(destination_) && std::ranges::all_of(operands_, is_contiguous);
}

namespace {

// Whether an operand can be read or written in runs of `run` elements.
bool fits_runs(const ElementwisePlan& plan, const Operand& operand, int run) {
  const bool has_type =
      operand.type == Element::f32 || operand.type == Element::f16 || operand.type == Element::bf16;
  const std::int64_t innermost = operand.strides[plan.rank - 1];
  if (!has_type || innermost > 1) return false;
  return innermost == 0 || std::all_of(operand.strides, operand.strides + plan.rank - 1,
                                       [&](std::int64_t stride) { return stride % run == 0; });
}

// Returns ElementwisePlan::run: as many elements as 16 bytes of the narrowest type.
int find_run(const ElementwisePlan& plan) {
  const std::span operands(plan.operands, static_cast<std::size_t>(plan.operand_count));
  const std::span steps(plan.steps, static_cast<std::size_t>(plan.step_count));
  const auto is_wide = [](const Operand& operand) { return operand.type == Element::f32; };
  const bool is_all_wide =
      is_wide(plan.destination) && std::all_of(operands.begin(), operands.end(), is_wide);
  const int run = is_all_wide ? 4 : 8;
  const bool fits =
      plan.padding == PaddingMode::none && plan.precision == Precision::single &&
      plan.dims[plan.rank - 1] % run == 0 && plan.destination.strides[plan.rank - 1] == 1 &&
      fits_runs(plan, plan.destination, run) && std::all_of(steps.begin(), steps.end(), is_cheap) &&
      std::all_of(operands.begin(), operands.end(),
                  [&](const Operand& operand) { return fits_runs(plan, operand, run); });
  return fits ? run : 1;
}

}  // namespace

Result<ElementwisePlan, BackendError> ElementwisePlanner::finish() const {
  // Dimensions that are merged into one. `size` is the product of their sizes; the stride is that
  // of `inner`, the innermost one.
  struct MergedDims {
    std::int64_t size;
    std::size_t inner;
  };
  std::vector<MergedDims> merged;
  for (const std::size_t d : order_dimensions()) {
    if (!merged.empty() && can_merge(merged.back().inner, d)) {
      merged.back() = {merged.back().size * dims_[d], d};
    } else {
      merged.push_back({dims_[d], d});
    }
  }
  if (merged.size() > kMaxDims || operands_.size() > kMaxOperands - 1 ||
      steps_.size() > kMaxSteps) {
    return BackendError{BackendError::Kind::unsupported,
                        fmt::format("one launch takes {} dimensions, {} operands and {} functions",
                                    kMaxDims, kMaxOperands - 1, kMaxSteps)};
  }
  ElementwisePlan plan;
  plan.precision = precision_;
  plan.rank = std::max(1, static_cast<int>(merged.size()));
  const auto make_operand = [&](const Tensor& tensor) {
    Operand operand;
    operand.tensor = tensor.number;
    operand.type = to_element(tensor.dtype);
    for (std::size_t d = 0; d < merged.size(); ++d)
      operand.strides[d] = tensor.strides[merged[d].inner];
    return operand;
  };
  for (std::size_t d = 0; d < merged.size(); ++d) {
    plan.dims[d] = merged[d].size;
    plan.elements *= merged[d].size;
    if (merged[d].inner == block_) plan.block = static_cast<int>(d);
    if (merged[d].inner == within_) plan.within = static_cast<int>(d);
  }
  plan.operand_count = static_cast<int>(operands_.size());
  std::ranges::transform(operands_, plan.operands, make_operand);
  plan.destination = make_operand(destination_);
  plan.step_count = static_cast<int>(steps_.size());
  std::ranges::copy(steps_, plan.steps);
  plan.padding = padding_;
  plan.block_size = block_size_;
  plan.limit = limit_;
  plan.run = find_run(plan);
  return plan;
}

}  // namespace bench::ops::cuda
