// SPDX-License-Identifier: Apache-2.0
// Graphs of only pointwise operations: pointwise, batch_norm in inference, reorder.
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Pointwise = GraphBuilder::Pointwise;

// Shapes are aligned at the last dimension, as in broadcasts.
std::vector<std::int64_t> padded(const Dims& dims) {
  constexpr std::size_t kMinRank = 4;
  std::vector<std::int64_t> result(dims.size() < kMinRank ? kMinRank - dims.size() : 0, 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

// cuDNN's pointwise engines expect the second dimension innermost. The names of dimensions do not
// matter for elementwise operations. In row-major order the last one is therefore moved to the
// second place.
TensorForm elementwise_form(const Problem& problem, std::size_t tensor,
                            std::vector<std::int64_t> dims) {
  if (!has_channels_innermost(problem)) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return form_of(problem, tensor, std::move(dims), Layout::nhwc);
}

TensorForm elementwise_form(const Problem& problem, std::size_t tensor) {
  return elementwise_form(problem, tensor, padded(problem.tensors[tensor].dims));
}

std::vector<std::size_t> add_tensors(GraphBuilder& builder, const Problem& problem) {
  std::vector<std::size_t> tensors;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    tensors.push_back(builder.tensor(elementwise_form(problem, i)));
  }
  return tensors;
}

// Applies the function to the first tensor and, for a binary function, tensor number `second`. The
// result is the last tensor.
Result<OperationGraph, Refusal> function_graph(const CudnnTarget& target, const Problem& problem,
                                               Pointwise function,
                                               std::optional<std::size_t> second) {
  function.compute = pointwise_compute_type(problem);
  GraphBuilder builder(target);
  const std::vector<std::size_t> tensors = add_tensors(builder, problem);
  if (second) second = tensors[*second];
  builder.pointwise(function, tensors.front(), second, tensors.back());
  return builder.finish();
}

Result<OperationGraph, Refusal> gradient_graph(const CudnnTarget& target, const Problem& problem,
                                               Pointwise function) {
  function.compute = pointwise_compute_type(problem);
  GraphBuilder builder(target);
  const std::vector<std::size_t> tensors = add_tensors(builder, problem);
  builder.pointwise_gradient(function, tensors[0], tensors[1], tensors[2]);
  return builder.finish();
}

}  // namespace

bool has_channels_innermost(const Problem& problem) {
  // Channels require a rank of at least four: n, c, and two spatial sizes.
  return problem.tensors[0].dims.size() > 3 && chosen_layout(problem) == Layout::nhwc;
}

Result<OperationGraph, Refusal> pointwise_graph(const CudnnTarget& target, const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported(
        "cuDNN cannot fuse post-ops with a pointwise function here; leave post-ops out");
  }
  const std::string& name = problem.parameters.word("function");
  if (const auto binary = binary_function(name)) return function_graph(target, problem, *binary, 1);
  const Coefficients given = pointwise_coefficients(problem.parameters);
  const Coefficient coefficients{given.alpha, given.beta};
  if (problem.direction != Direction::forward) {
    if (const auto gradient = unary_gradient(name, coefficients)) {
      return gradient_graph(target, problem, *gradient);
    }
    return unsupported(fmt::format("cuDNN has no gradient of `{}`", name));
  }
  // cuDNN has no square operation; use x * x.
  if (name == "square") return function_graph(target, problem, {CUDNN_POINTWISE_MUL}, 0);
  if (const auto function = unary_function(name, coefficients)) {
    return function_graph(target, problem, *function, std::nullopt);
  }
  return unsupported(fmt::format("cuDNN has no pointwise function `{}`", name));
}

Result<OperationGraph, Refusal> batch_norm_graph(const CudnnTarget& target,
                                                 const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported("cuDNN fuses nothing after a batch norm here; leave post-ops out");
  }
  // (source - mean) * inverse deviation * scale + shift: tensors 1 to 4 in this order.
  constexpr std::array<cudnnPointwiseMode_t, 4> kSteps = {CUDNN_POINTWISE_SUB, CUDNN_POINTWISE_MUL,
                                                          CUDNN_POINTWISE_MUL, CUDNN_POINTWISE_ADD};
  const DataType compute = pointwise_compute_type(problem);
  const TensorForm source = elementwise_form(problem, 0);
  std::vector<std::int64_t> channels(problem.tensors[0].dims.size(), 1);
  channels[1] = problem.tensors[0].dims[1];
  GraphBuilder builder(target);
  std::size_t last = builder.tensor(source);
  for (std::size_t step = 0; step < kSteps.size(); ++step) {
    const std::size_t operand =
        builder.tensor(elementwise_form(problem, step + 1, padded(channels)));
    const std::size_t result = step + 1 == kSteps.size()
                                   ? builder.tensor(elementwise_form(problem, step + 2))
                                   : builder.intermediate(fmt::format("result {}", step), compute,
                                                          source.dims, source.strides);
    builder.pointwise({kSteps[step], compute}, last, operand, result);
    last = result;
  }
  return builder.finish();
}

Result<OperationGraph, Refusal> reorder_graph(const CudnnTarget& target, const Problem& problem) {
  // Keeps the sizes unchanged: n and c come first.
  std::vector<std::int64_t> dims = problem.tensors[0].dims;
  if (dims.size() == 3) dims.insert(dims.begin() + 2, 1);
  std::vector<TensorForm> ends;
  for (const char* parameter : {"from", "to"}) {
    const std::string& layout = problem.parameters.word(parameter);
    if (layout != "nchw" && layout != "nhwc") {
      return unsupported(fmt::format("cuDNN does not support the layout `{}`", layout));
    }
    ends.push_back(
        form_of(problem, ends.size(), dims, layout == "nhwc" ? Layout::nhwc : Layout::nchw));
  }
  GraphBuilder builder(target);
  const std::size_t x = builder.tensor(ends[0]);
  const std::size_t y = builder.tensor(ends[1]);
  builder.pointwise({CUDNN_POINTWISE_IDENTITY, pointwise_compute_type(problem)}, x, std::nullopt,
                    y);
  return builder.finish();
}

}  // namespace bench::ops::cuda
