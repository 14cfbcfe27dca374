// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {
namespace {

struct NormStep {
  std::string_view tensor;
  cudnnPointwiseMode_t mode;
};
// (source - mean) * inverse deviation * scale + shift: the tensors after the source, in the
// problem's order. A problem may have no scale and no shift.
constexpr std::array<NormStep, 4> kNormSteps = {{{"mean", CUDNN_POINTWISE_SUB},
                                                 {"variance", CUDNN_POINTWISE_MUL},
                                                 {"scale", CUDNN_POINTWISE_MUL},
                                                 {"shift", CUDNN_POINTWISE_ADD}}};

// The graph expects 1/sqrt(variance + epsilon) in the tensor `variance`; pack_norm() provides it.
Result<OperationGraph, BackendError> batch_norm_graph(const CudnnTarget& target,
                                                      const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported("cuDNN fuses nothing after a batch norm here; leave post-ops out");
  }
  std::vector<NormStep> steps;
  for (const NormStep& step : kNormSteps) {
    if (tensor_number(problem, step.tensor) >= 0) steps.push_back(step);
  }
  const DataType compute = pointwise_compute_type(problem);
  const TensorForm source = elementwise_form(problem, 0);
  std::vector<std::int64_t> channels(problem.tensors[0].dims.size(), 1);
  channels[1] = problem.tensors[0].dims[1];
  GraphBuilder builder(target);
  std::size_t previous = builder.tensor(source);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::size_t operand =
        builder.tensor(elementwise_form(problem, step + 1, padded_dims(channels)));
    const std::size_t result = step + 1 == steps.size()
                                   ? builder.tensor(elementwise_form(problem, step + 2))
                                   : builder.intermediate(fmt::format("result {}", step), compute,
                                                          source.dims, source.strides);
    builder.pointwise({steps[step].mode, compute}, previous, operand, result);
    previous = result;
  }
  return builder.finish();
}

// Packs a tensor. Tensor 2 is the variance, which is packed as the inverse deviation.
std::optional<PackedTensor> pack_norm(const Problem& problem, std::size_t tensor,
                                      const TensorForm& form) {
  auto packed = pack_elementwise(problem, tensor, form);
  if (packed && tensor == 2) packed->values = PackedValues::inverse_deviation;
  return packed;
}

bool needs_more_than_a_function(const Problem& problem) {
  return is_in_training(problem) || problem.direction != Direction::forward;
}

constexpr CudnnGap kGaps[] = {
    {needs_more_than_a_function,
     "bench builds a cuDNN graph only for a batch norm in inference, forward"},
    {is_f64, "cuDNN has no engine for pointwise functions of f64"},
    {is_nchw, "cuDNN has no engine for a batch norm in nchw"},
    {is_rank_3, "cuDNN has no engine for a batch norm of one spatial dimension"},
};

}  // namespace

extern const CudnnEntry batch_norm_cudnn;
const CudnnEntry batch_norm_cudnn = {
    .op = "batch_norm", .graph = batch_norm_graph, .gaps = kGaps, .pack = pack_norm};

}  // namespace bench::ops::cuda
