// SPDX-License-Identifier: Apache-2.0
// Inference, and the gradient of the source with given statistics, are pointwise functions.
// Training is cuDNN's operation `norm`. Both have 1/sqrt(variance + epsilon) in the tensor
// `variance`, which pack_norm() provides and takes back.
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::cuda {
namespace {

struct NormStep {
  std::string_view tensor;
  cudnnPointwiseMode_t mode;
};
// (source - mean) * inverse deviation * scale + shift, as far as the problem has these tensors, in
// its order.
constexpr std::array<NormStep, 4> kNormSteps = {{{"mean", CUDNN_POINTWISE_SUB},
                                                 {"variance", CUDNN_POINTWISE_MUL},
                                                 {"scale", CUDNN_POINTWISE_MUL},
                                                 {"shift", CUDNN_POINTWISE_ADD}}};

Result<OperationGraph, BackendError> pointwise_norm(const CudnnTarget& target,
                                                    const Problem& problem) {
  const DataType compute = pointwise_compute_type(problem);
  const TensorForm image = elementwise_form(problem, 0);
  std::vector<std::int64_t> channels(problem.tensors[0].dims.size(), 1);
  channels[1] = problem.tensors[0].dims[1];
  std::vector<NormStep> steps;
  for (const NormStep& step : kNormSteps) {
    if (tensor_number(problem, step.tensor) >= 0) steps.push_back(step);
  }
  GraphBuilder builder(target);
  std::size_t previous = builder.tensor(image);
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const std::size_t operand =
        builder.tensor(elementwise_form(problem, step + 1, padded_dims(channels)));
    const std::size_t result = step + 1 == steps.size()
                                   ? builder.tensor(elementwise_form(problem, step + 2))
                                   : builder.intermediate(fmt::format("result {}", step), compute,
                                                          image.dims, image.strides);
    builder.pointwise({steps[step].mode, compute}, previous, operand, result);
    previous = result;
  }
  return builder.finish();
}

bool is_pointwise(const Problem& problem) {
  return !is_in_training(problem) && problem.direction != Direction::backward_weights;
}

// The tensors of the operation `norm`, by their names in the problem. One spatial dimension gets a
// height of 1.
class NormTensors {
 public:
  NormTensors(GraphBuilder& builder, const Problem& problem)
      : builder_(builder), problem_(problem), image_(problem.tensors[0].dims) {
    constexpr std::size_t kMinRank = 4;
    if (image_.size() < kMinRank) image_.insert(image_.begin() + 2, 1);
    channels_.assign(image_.size(), 1);
    channels_[1] = image_[1];
    for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
      const bool is_image = problem.tensors[i].dims.size() > 1;
      indexes_.push_back(builder.tensor(
          tensor_form(problem, i, is_image ? image_ : channels_, chosen_layout(problem))));
    }
  }

  std::size_t at(std::string_view name) const {
    return indexes_[static_cast<std::size_t>(tensor_number(problem_, name))];
  }
  bool has(std::string_view name) const { return tensor_number(problem_, name) >= 0; }
  // Scale or shift that the problem does not have.
  std::size_t at_or_constant(std::string_view name, double value) {
    if (has(name)) return at(name);
    const std::vector<double> values(static_cast<std::size_t>(channels_[1]), value);
    return builder_.constant(channel_form(name), values);
  }
  // A result that the problem does not have.
  std::size_t at_or_scratch(std::string_view name) {
    if (has(name)) return at(name);
    const TensorForm form = channel_form(name);
    return builder_.scratch(form.name, form.dtype, form.dims, form.strides);
  }
  std::size_t epsilon() {
    return builder_.number("epsilon", pointwise_compute_type(problem_),
                           problem_.parameters.real("epsilon"), image_.size());
  }

 private:
  TensorForm channel_form(std::string_view name) const {
    return {std::string(name), 0, pointwise_compute_type(problem_), channels_,
            dense_strides(channels_, chosen_layout(problem_))};
  }

  GraphBuilder& builder_;
  const Problem& problem_;
  std::vector<std::int64_t> image_, channels_;
  std::vector<std::size_t> indexes_;  // by tensor of the problem
};

void add_training(GraphBuilder& builder, NormTensors& tensors) {
  const std::size_t scale = tensors.at_or_constant("scale", 1);
  const std::size_t shift = tensors.at_or_constant("shift", 0);
  const std::size_t epsilon = tensors.epsilon();
  if (builder.failed()) return;
  DescriptorBuilder operation(builder.api(), CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
                              "the batch norm");
  operation.code(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_BATCH_NORM)
      .code(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE, CUDNN_NORM_FWD_TRAINING)
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, builder.at(tensors.at("source")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, builder.at(tensors.at("mean")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC,
                  builder.at(tensors.at("variance")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, builder.at(scale))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, builder.at(shift))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, builder.at(epsilon))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, builder.at(tensors.at("destination")));
  builder.operation(operation.finish());
}

void add_gradients(GraphBuilder& builder, NormTensors& tensors) {
  const std::size_t scale = tensors.at_or_constant("scale", 1);
  const std::size_t diff_scale = tensors.at_or_scratch("diff_scale");
  const std::size_t diff_shift = tensors.at_or_scratch("diff_shift");
  if (builder.failed()) return;
  DescriptorBuilder operation(builder.api(), CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
                              "the batch norm's gradients");
  operation.code(CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_TYPE_NORM_MODE, CUDNN_BATCH_NORM)
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, builder.at(tensors.at("source")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, builder.at(tensors.at("mean")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC,
                  builder.at(tensors.at("variance")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, builder.at(tensors.at("diff_destination")))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, builder.at(scale))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, builder.at(diff_scale))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, builder.at(diff_shift))
      .descriptor(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, builder.at(tensors.at("diff_source")));
  builder.operation(operation.finish());
}

Result<OperationGraph, BackendError> batch_norm_graph(const CudnnTarget& target,
                                                      const Problem& problem) {
  if (!problem.post_ops.empty()) {
    return unsupported("cuDNN fuses nothing after a batch norm here; leave post-ops out");
  }
  if (is_pointwise(problem)) return pointwise_norm(target, problem);
  GraphBuilder builder(target);
  NormTensors tensors(builder, problem);
  if (problem.direction == Direction::forward) {
    add_training(builder, tensors);
  } else {
    add_gradients(builder, tensors);
  }
  return builder.finish();
}

// Packs a tensor. The variance is packed as the inverse deviation.
std::optional<PackedTensor> pack_norm(const Problem& problem, std::size_t tensor,
                                      const TensorForm& form) {
  const bool is_variance = problem.tensors[tensor].name == "variance";
  auto packed = is_pointwise(problem) ? pack_elementwise(problem, tensor, form) : std::nullopt;
  if (!packed && is_variance) {
    packed = PackedTensor{strided_arrangement(form.dims, form.strides), "plain"};
  }
  if (is_variance) packed->values = PackedValues::inverse_deviation;
  return packed;
}

bool has_given_statistics_for_sums(const Problem& problem) {
  return !is_in_training(problem) && problem.direction == Direction::backward_weights;
}

constexpr CudnnGap kGaps[] = {
    {is_f64, "cuDNN has no engine for pointwise functions of f64"},
    {is_nchw, "cuDNN has no engine for a batch norm in nchw"},
    {is_rank_3, "cuDNN has no engine for a batch norm of one spatial dimension"},
    {has_given_statistics_for_sums,
     "cuDNN has no gradients of scale and shift of a batch norm with given statistics"},
};

}  // namespace

extern const CudnnEntry batch_norm_cudnn;
const CudnnEntry batch_norm_cudnn = {
    .op = "batch_norm", .graph = batch_norm_graph, .gaps = kGaps, .pack = pack_norm};

}  // namespace bench::ops::cuda
