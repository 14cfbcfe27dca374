// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/conv.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

using Pointwise = GraphBuilder::Pointwise;

// One operation after the convolution: the bias, then the post-ops.
struct EpilogueStep {
  Pointwise function;
  std::optional<TensorForm> operand;
};

Result<std::vector<EpilogueStep>, Refusal> epilogue(const Problem& problem, const ConvForm& form) {
  std::vector<EpilogueStep> steps;
  std::size_t next = 2;  // source, weights, [bias], residuals
  const Layout layout = chosen_layout(problem);
  const Pointwise add{CUDNN_POINTWISE_ADD};
  if (conv_shape(problem.parameters).bias == Bias::present) {
    std::vector<std::int64_t> dims(form.y.dims.size(), 1);
    dims[1] = form.y.dims[1];
    steps.push_back({add, form_of(problem, next++, std::move(dims), layout)});
  }
  for (const PostOp& post_op : problem.post_ops) {
    if (post_op.function == "add") {
      steps.push_back({add, form_of(problem, next++, form.y.dims, layout)});
      continue;
    }
    const auto function = unary_function(post_op.function, {post_op.alpha, post_op.beta});
    if (!function) {
      return unsupported(fmt::format("cuDNN has no pointwise function `{}`", post_op.function));
    }
    steps.push_back({*function, std::nullopt});
  }
  return steps;
}

void build(GraphBuilder& builder, const Problem& problem, const ConvForm& form,
           std::vector<EpilogueStep> steps) {
  const DataType compute = compute_type(problem);
  const std::size_t x = builder.tensor(form.x);
  const std::size_t w = builder.tensor(form.w);
  const std::size_t y = builder.tensor(form.y);
  const auto between = [&](std::size_t number) {
    return builder.intermediate(fmt::format("result {}", number), compute, form.y.dims,
                                form.y.strides);
  };
  std::size_t last = steps.empty() ? y : between(0);
  builder.convolution(form, compute, x, w, last);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::optional<std::size_t> operand;
    if (steps[i].operand) operand = builder.tensor(*steps[i].operand);
    const std::size_t result = i + 1 == steps.size() ? y : between(i + 1);
    steps[i].function.compute = pointwise_compute_type(problem);
    builder.pointwise(steps[i].function, last, operand, result);
    last = result;
  }
}

}  // namespace

Result<OperationGraph, Refusal> conv_graph(const CudnnTarget& target, const Problem& problem) {
  BENCH_ASSIGN_OR_RETURN(const ConvForm form, conv_form(problem));
  std::vector<EpilogueStep> steps;
  if (problem.direction == Direction::forward) {
    BENCH_ASSIGN_OR_RETURN(steps, epilogue(problem, form));
  }
  if (!steps.empty() && form.kind == ConvKind::data) {
    return unsupported(
        "cuDNN fuses nothing after a transposed convolution; leave bias and post-ops out");
  }
  GraphBuilder builder(target);
  build(builder, problem, form, std::move(steps));
  return builder.finish();
}

}  // namespace bench::ops::cuda
