// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/pointwise/pointwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Pointwise = GraphBuilder::Pointwise;

std::vector<std::size_t> add_tensors(GraphBuilder& builder, const Problem& problem) {
  std::vector<std::size_t> tensors;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    tensors.push_back(builder.tensor(elementwise_form(problem, i)));
  }
  return tensors;
}

// Returns a graph that applies the function to the first tensor and, for a binary function, to
// tensor number `second`. The result is the last tensor.
Result<OperationGraph, BackendError> make_function_graph(const CudnnTarget& target,
                                                         const Problem& problem, Pointwise function,
                                                         std::optional<std::size_t> second) {
  function.compute = pointwise_compute_type(problem);
  GraphBuilder builder(target);
  const std::vector<std::size_t> tensors = add_tensors(builder, problem);
  if (second) second = tensors[*second];
  builder.pointwise(function, tensors.front(), second, tensors.back());
  return builder.finish();
}

Result<OperationGraph, BackendError> make_gradient_graph(const CudnnTarget& target,
                                                         const Problem& problem,
                                                         Pointwise function) {
  function.compute = pointwise_compute_type(problem);
  GraphBuilder builder(target);
  const std::vector<std::size_t> tensors = add_tensors(builder, problem);
  builder.pointwise_gradient(function, tensors[0], tensors[1], tensors[2]);
  return builder.finish();
}

Result<OperationGraph, BackendError> pointwise_graph(const CudnnTarget& target,
                                                     const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported(
        "cuDNN cannot fuse post-ops with a pointwise function here; leave post-ops out");
  }
  const std::string& name = problem.parameters.word("function");
  if (const auto binary = binary_function(name))
    return make_function_graph(target, problem, *binary, 1);
  const PointwiseCoefficients coefficients = pointwise_coefficients(problem.parameters);
  if (problem.direction != Direction::forward) {
    if (const auto gradient = unary_gradient(name, coefficients)) {
      return make_gradient_graph(target, problem, *gradient);
    }
    return unsupported(fmt::format("cuDNN has no gradient of `{}`", name));
  }
  // cuDNN has no square operation; use x * x.
  if (name == "square") return make_function_graph(target, problem, {CUDNN_POINTWISE_MUL}, 0);
  if (const auto function = unary_function(name, coefficients)) {
    return make_function_graph(target, problem, *function, std::nullopt);
  }
  return unsupported(fmt::format("cuDNN has no pointwise function `{}`", name));
}

bool is_broadcast(const Problem& problem) {
  return std::ranges::any_of(problem.tensors, [&](const Tensor& tensor) {
    return tensor.dims != problem.tensors.back().dims;
  });
}

bool requests_nhwc_of_rank_3(const Problem& problem) {
  return problem.layout == Layout::nhwc && is_rank_3(problem);
}
bool is_nchw_broadcast(const Problem& problem) { return is_nchw(problem) && is_broadcast(problem); }
// Returns whether an operand is broadcast in another way than one value per channel. Only for
// results of fewer than four dimensions, whose last dimension counts as the channels.
bool is_broadcast_except_per_channel(const Problem& problem) {
  const Dims& result = problem.tensors.back().dims;
  return result.size() < 4 && std::ranges::any_of(problem.tensors, [&](const Tensor& tensor) {
           return tensor.dims != result &&
                  tensor.elements() != (tensor.dims.empty() ? 1 : tensor.dims.back());
         });
}
constexpr CudnnGap kGaps[] = {
    {is_f64, "cuDNN has no engine for pointwise functions of f64"},
    {is_nchw_broadcast, "cuDNN has no engine for broadcasts in nchw"},
    {is_broadcast_except_per_channel,
     "cuDNN has no engine for broadcasts except along the channels"},
    {requests_nhwc_of_rank_3, "cuDNN's pointwise engines take nhwc from 4 dimensions on"},
};

}  // namespace

extern const CudnnEntry pointwise_cudnn;
const CudnnEntry pointwise_cudnn = {
    .op = "pointwise", .graph = pointwise_graph, .gaps = kGaps, .pack = pack_elementwise};

}  // namespace bench::ops::cuda
