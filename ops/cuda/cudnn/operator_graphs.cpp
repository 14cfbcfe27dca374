// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/cudnn_entry.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace bench::ops::cuda {

bool has_channels_innermost(const Problem& problem) {
  // Channels require a rank of at least four: n, c, and two spatial sizes.
  return problem.tensors[0].dims.size() > 3 && chosen_layout(problem) == Layout::nhwc;
}

std::vector<std::int64_t> padded_dims(const Dims& dims) {
  constexpr std::size_t kMinRank = 4;
  std::vector<std::int64_t> result(dims.size() < kMinRank ? kMinRank - dims.size() : 0, 1);
  result.insert(result.end(), dims.begin(), dims.end());
  return result;
}

TensorForm elementwise_form(const Problem& problem, std::size_t tensor,
                            std::vector<std::int64_t> dims) {
  if (!has_channels_innermost(problem)) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return tensor_form(problem, tensor, std::move(dims), Layout::nhwc);
}

TensorForm elementwise_form(const Problem& problem, std::size_t tensor) {
  return elementwise_form(problem, tensor, padded_dims(problem.tensors[tensor].dims));
}

std::optional<PackedTensor> pack_elementwise(
    const Problem& problem, std::size_t tensor,
    const TensorForm& /*form: not needed, since it only renames dimensions*/) {
  const Tensor& problem_tensor = problem.tensors[tensor];
  if (has_channels_innermost(problem) && problem_tensor.dims.size() != 1) return std::nullopt;
  return PackedTensor{make_arrangement(problem_tensor.dims, MemoryLayout::plain),
                      format_layout(problem, tensor, Layout::nchw)};
}

namespace {

using Pointwise = GraphBuilder::Pointwise;

// The parameter of a pointwise function that the problem's coefficients set.
enum class FunctionParameter { none, slope, clips, elu_alpha, swish_beta };

struct FunctionRow {
  std::string_view name;
  cudnnPointwiseMode_t mode;
  FunctionParameter parameter = FunctionParameter::none;
};

constexpr FunctionRow kUnary[] = {
    {"relu", CUDNN_POINTWISE_RELU_FWD},
    {"leaky_relu", CUDNN_POINTWISE_RELU_FWD, FunctionParameter::slope},
    {"clip", CUDNN_POINTWISE_RELU_FWD, FunctionParameter::clips},
    {"elu", CUDNN_POINTWISE_ELU_FWD, FunctionParameter::elu_alpha},
    {"gelu_erf", CUDNN_POINTWISE_GELU_FWD},
    {"gelu_tanh", CUDNN_POINTWISE_GELU_APPROX_TANH_FWD},
    {"sigmoid", CUDNN_POINTWISE_SIGMOID_FWD},
    {"tanh", CUDNN_POINTWISE_TANH_FWD},
    {"swish", CUDNN_POINTWISE_SWISH_FWD, FunctionParameter::swish_beta},
    {"exp", CUDNN_POINTWISE_EXP},
    {"log", CUDNN_POINTWISE_LOG},
    {"sqrt", CUDNN_POINTWISE_SQRT},
    {"abs", CUDNN_POINTWISE_ABS},
};

constexpr FunctionRow kGradients[] = {
    {"relu", CUDNN_POINTWISE_RELU_BWD},
    {"leaky_relu", CUDNN_POINTWISE_RELU_BWD, FunctionParameter::slope},
    {"clip", CUDNN_POINTWISE_RELU_BWD, FunctionParameter::clips},
    {"elu", CUDNN_POINTWISE_ELU_BWD, FunctionParameter::elu_alpha},
    {"gelu_erf", CUDNN_POINTWISE_GELU_BWD},
    {"gelu_tanh", CUDNN_POINTWISE_GELU_APPROX_TANH_BWD},
    {"sigmoid", CUDNN_POINTWISE_SIGMOID_BWD},
    {"tanh", CUDNN_POINTWISE_TANH_BWD},
    {"swish", CUDNN_POINTWISE_SWISH_BWD, FunctionParameter::swish_beta},
};

constexpr FunctionRow kBinary[] = {
    {"add", CUDNN_POINTWISE_ADD}, {"sub", CUDNN_POINTWISE_SUB}, {"mul", CUDNN_POINTWISE_MUL},
    {"div", CUDNN_POINTWISE_DIV}, {"max", CUDNN_POINTWISE_MAX}, {"min", CUDNN_POINTWISE_MIN},
};

std::optional<Pointwise> make_pointwise(std::span<const FunctionRow> rows, std::string_view name,
                                        const PointwiseCoefficients& coefficients) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FunctionRow& candidate) {
    return candidate.name == name;
  });
  if (row == rows.end()) return std::nullopt;
  Pointwise function{.mode = row->mode};
  switch (row->parameter) {
    case FunctionParameter::none:
      break;
    case FunctionParameter::slope:
      function.slope = coefficients.alpha;
      break;
    case FunctionParameter::clips:
      function.lower_clip = coefficients.alpha;
      function.upper_clip = coefficients.beta;
      break;
    case FunctionParameter::elu_alpha:
      function.elu_alpha = coefficients.alpha;
      break;
    case FunctionParameter::swish_beta:
      function.swish_beta = coefficients.alpha;
      break;
  }
  return function;
}

}  // namespace

std::optional<Pointwise> unary_function(std::string_view name,
                                        const PointwiseCoefficients& coefficients) {
  return make_pointwise(kUnary, name, coefficients);
}

std::optional<Pointwise> unary_gradient(std::string_view name,
                                        const PointwiseCoefficients& coefficients) {
  return make_pointwise(kGradients, name, coefficients);
}

std::optional<Pointwise> binary_function(std::string_view name) {
  return make_pointwise(kBinary, name, {});
}

DataType pointwise_compute_type(const Problem& problem) {
  return problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
}

}  // namespace bench::ops::cuda
