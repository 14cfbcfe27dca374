// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/tensor_arrangement.hpp"

#include "ops/conv/conv.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/operator.hpp"

#include <cmath>
#include <string_view>
#include <utility>

namespace bench::ops::cuda {
namespace {

// Weights are stored as [g,] k/g, c/g, taps. The plain convolution behind a transposed one swaps
// the names of the two kinds of channels.
Arrangement weights_arrangement(const ConvShape& shape, const TensorForm& form) {
  const bool transposed = shape.sweep == Sweep::transposed;
  const std::int64_t outer = form.strides[0], inner = form.strides[1];
  std::vector<std::int64_t> dims = {shape.groups, shape.group_k(), shape.group_c()};
  std::vector<std::int64_t> strides = {
      (transposed ? shape.group_c() : shape.group_k()) * outer,
      transposed ? inner : outer,
      transposed ? outer : inner,
  };
  dims.insert(dims.end(), form.dims.begin() + 2, form.dims.end());
  strides.insert(strides.end(), form.strides.begin() + 2, form.strides.end());
  return strided_arrangement(dims, strides);
}

bool is_weights(const Problem& problem, std::size_t tensor) {
  const std::string_view name = problem.tensors[tensor].name;
  return name == "weights" || name == "diff_weights";
}

std::string layout_text(const Problem& problem, std::size_t tensor, Layout layout) {
  if (problem.tensors[tensor].dims.size() < 3) return "plain";
  return layout == Layout::nhwc ? "nhwc" : "nchw";
}

bool is_elementwise(const Problem& problem) {
  return problem.op->name == "pointwise" || problem.op->name == "batch_norm";
}

}  // namespace

PackedTensor packed_tensor(const Problem& problem, std::size_t tensor, const TensorForm& form) {
  const Tensor& given = problem.tensors[tensor];
  // If channels are not innermost, elementwise graphs rename dimensions. The tensors are then
  // plain, as are tensors with one value per channel.
  if (is_elementwise(problem) && (!has_channels_innermost(problem) || given.dims.size() == 1)) {
    const bool is_variance = problem.op->name == "batch_norm" && tensor == 2;
    return {arrangement_of(given.dims, MemoryLayout::plain),
            layout_text(problem, tensor, Layout::nchw),
            is_variance ? PackedValues::inverse_deviation : PackedValues::unchanged};
  }
  const std::string layout = layout_text(problem, tensor, chosen_layout(problem));
  if (problem.op->name == "conv" && is_weights(problem, tensor)) {
    return {weights_arrangement(conv_shape(problem.parameters), form), layout};
  }
  return {strided_arrangement(form.dims, form.strides), layout};
}

void to_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double variance = load_element(dtype, values, i);
    store_element(dtype, values, i, 1 / std::sqrt(variance + epsilon));
  }
}

void from_inverse_deviation(DataType dtype, void* values, std::int64_t count, double epsilon) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double inverse = load_element(dtype, values, i);
    store_element(dtype, values, i, 1 / (inverse * inverse) - epsilon);
  }
}

}  // namespace bench::ops::cuda
