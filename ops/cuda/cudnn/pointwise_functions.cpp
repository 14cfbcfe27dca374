// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/kernel.hpp"
#include "ops/cuda/cudnn/operator_graphs.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace bench::ops::cuda {
namespace {

using Pointwise = GraphBuilder::Pointwise;

// The parameter of a function that its coefficients set.
enum class Takes { nothing, slope, clips, elu_alpha, swish_beta };

struct FunctionRow {
  std::string_view name;
  cudnnPointwiseMode_t mode;
  Takes takes = Takes::nothing;
};

constexpr FunctionRow kUnary[] = {
    {"relu", CUDNN_POINTWISE_RELU_FWD},
    {"leaky_relu", CUDNN_POINTWISE_RELU_FWD, Takes::slope},
    {"clip", CUDNN_POINTWISE_RELU_FWD, Takes::clips},
    {"elu", CUDNN_POINTWISE_ELU_FWD, Takes::elu_alpha},
    {"gelu_erf", CUDNN_POINTWISE_GELU_FWD},
    {"gelu_tanh", CUDNN_POINTWISE_GELU_APPROX_TANH_FWD},
    {"sigmoid", CUDNN_POINTWISE_SIGMOID_FWD},
    {"tanh", CUDNN_POINTWISE_TANH_FWD},
    {"swish", CUDNN_POINTWISE_SWISH_FWD, Takes::swish_beta},
    {"exp", CUDNN_POINTWISE_EXP},
    {"log", CUDNN_POINTWISE_LOG},
    {"sqrt", CUDNN_POINTWISE_SQRT},
    {"abs", CUDNN_POINTWISE_ABS},
};

constexpr FunctionRow kGradients[] = {
    {"relu", CUDNN_POINTWISE_RELU_BWD},
    {"leaky_relu", CUDNN_POINTWISE_RELU_BWD, Takes::slope},
    {"clip", CUDNN_POINTWISE_RELU_BWD, Takes::clips},
    {"elu", CUDNN_POINTWISE_ELU_BWD, Takes::elu_alpha},
    {"gelu_erf", CUDNN_POINTWISE_GELU_BWD},
    {"gelu_tanh", CUDNN_POINTWISE_GELU_APPROX_TANH_BWD},
    {"sigmoid", CUDNN_POINTWISE_SIGMOID_BWD},
    {"tanh", CUDNN_POINTWISE_TANH_BWD},
    {"swish", CUDNN_POINTWISE_SWISH_BWD, Takes::swish_beta},
};

constexpr FunctionRow kBinary[] = {
    {"add", CUDNN_POINTWISE_ADD}, {"sub", CUDNN_POINTWISE_SUB}, {"mul", CUDNN_POINTWISE_MUL},
    {"div", CUDNN_POINTWISE_DIV}, {"max", CUDNN_POINTWISE_MAX}, {"min", CUDNN_POINTWISE_MIN},
};

std::optional<Pointwise> make(std::span<const FunctionRow> rows, std::string_view name,
                              const PointwiseCoefficients& coefficients) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const FunctionRow& candidate) {
    return candidate.name == name;
  });
  if (row == rows.end()) return std::nullopt;
  Pointwise function{.mode = row->mode};
  switch (row->takes) {
    case Takes::nothing:
      break;
    case Takes::slope:
      function.slope = coefficients.alpha;
      break;
    case Takes::clips:
      function.lower_clip = coefficients.alpha;
      function.upper_clip = coefficients.beta;
      break;
    case Takes::elu_alpha:
      function.elu_alpha = coefficients.alpha;
      break;
    case Takes::swish_beta:
      function.swish_beta = coefficients.alpha;
      break;
  }
  return function;
}

}  // namespace

std::optional<Pointwise> unary_function(std::string_view name,
                                        const PointwiseCoefficients& coefficients) {
  return make(kUnary, name, coefficients);
}

std::optional<Pointwise> unary_gradient(std::string_view name,
                                        const PointwiseCoefficients& coefficients) {
  return make(kGradients, name, coefficients);
}

std::optional<Pointwise> binary_function(std::string_view name) { return make(kBinary, name, {}); }

DataType pointwise_compute_type(const Problem& problem) {
  return problem.dtype == DataType::f64 ? DataType::f64 : DataType::f32;
}

}  // namespace bench::ops::cuda
