// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/normalisation.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <tuple>

namespace bench::ops {
namespace {

constexpr std::string_view kModes[] = {"inference"};

constexpr Parameter kParameters[] = {
    {"mode", "", ParameterKind::word, "inference", "inference: mean and variance are given", 1,
     kModes},
    {"n", "n", ParameterKind::count, "1", "images"},
    {"c", "c", ParameterKind::count, kRequired, "channels"},
    {"d", "d", ParameterKind::count, kOptional, "depth (3-D)"},
    {"h", "h", ParameterKind::count, "like d", "height (2-D and 3-D)"},
    {"w", "w", ParameterKind::count, "like h", "width"},
    kVarianceEpsilon,
};
constexpr Quantity kQuantities[] = {
    {"elements", "prod([n, c, d, h, w])", Quantity::Shown::no},
    // Not folded into a convolution: subtraction of the mean, division, scale, shift.
    {"flops", "4*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[n, c, d, h, w]"},
    {"mean", TensorRole::weights, "[c]", ElementType::statistic},
    {"variance", TensorRole::weights, "[c]", ElementType::statistic},
    {"scale", TensorRole::weights, "[c]", ElementType::statistic},
    {"shift", TensorRole::weights, "[c]", ElementType::statistic},
    {"destination", TensorRole::output, "[n, c, d, h, w]"},
};
constexpr std::string_view kExamples[] = {"n2c16h9", "n2c16w9", "n2c16d5h9"};

// Allowed error, in roundings, of difference, root, quotient, product and sum. Their operands are
// of order 1 to 4.
constexpr double kSteps = 32;

Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, kSteps, 1); }

std::optional<Join> join(const Problem& /*always inference*/) {
  return Join{Join::Kind::into_weights};
}

// Returns for each channel the terms of scale/sqrt(variance + epsilon) * (x - mean) + shift.
std::vector<ChannelAffine> make_affine(const Problem& layer, ReferenceInputs values) {
  const double epsilon = layer.parameters.real("epsilon");
  const auto& [mean, variance, scale, shift] = std::tie(values[1], values[2], values[3], values[4]);
  std::vector<ChannelAffine> channels;
  for (std::size_t k = 0; k < scale.size(); ++k) {
    channels.push_back({mean[k], scale[k] / std::sqrt(variance[k] + epsilon), shift[k]});
  }
  return channels;
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "variance";
}

}  // namespace

extern const Operator batch_norm_operator;
const Operator batch_norm_operator = describe(
    {.name = "batch_norm",
     .help = "batch normalisation with given statistics",
     .parameters = kParameters,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "c"},
    {.reference = batch_norm_reference,
     .tolerance = tolerance,
     .inference = kImageInference,
     .joining = {.join = join, .affine = make_affine},
     .filling = {.is_positive = is_positive},
     .product = {.rule = "op-batch-norm",
                 .sentence =
                     "one factor and one summand per channel: there is no product of matrices"},
     .examples = kExamples,
     .cuda = kOnCudnn});

}  // namespace bench::ops
