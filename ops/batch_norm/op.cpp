// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/normalisation.hpp"

#include <cmath>
#include <cstddef>
#include <optional>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {.name = "mode",
     .token = "",
     .kind = ParameterKind::word,
     .fallback = "inference",
     .help = "inference: mean and variance are given; training: they are those of the batch, and "
             "the forward pass writes them",
     .words = kNormModes},
    {"n", "n", ParameterKind::count, "1", "images"},
    {"c", "c", ParameterKind::count, kRequired, "channels"},
    {"d", "d", ParameterKind::count, kOptional, "depth (3-D)"},
    {"h", "h", ParameterKind::count, "like d", "height (2-D and 3-D)"},
    {"w", "w", ParameterKind::count, "like h", "width"},
    kVarianceEpsilon,
    {"scale", "noscale", ParameterKind::flag, "true", "multiplies by one value per channel"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per channel"},
};
constexpr Requirement kRequirements[] = {
    {"not integer or mode == 'inference' and forward", "dtype",
     "training and gradients of batch_norm are not defined for integers",
     "use a floating-point type"},
};
constexpr Quantity kQuantities[] = {
    {"size", "prod([n, d, h, w])", Quantity::Shown::no},  // elements of a channel
    {"elements", "prod([n, c, d, h, w])", Quantity::Shown::no},
    // Not folded into a convolution: subtraction of the mean, division, scale, shift. In training
    // also the statistics: sum; difference, square, sum.
    {"flops", "{2 + scale + shift}*elements", Quantity::Shown::yes,
     "forward and mode == 'inference'"},
    {"flops", "{4 + 2 + scale + shift}*elements", Quantity::Shown::yes,
     "forward and mode == 'training'"},
    // x: difference, product. Sums of dy*x and dy, which are the gradients of scale and shift.
    // Product, differences and quotient of the result; scale.
    {"flops", "{2 + 3 + 4 + scale}*elements", Quantity::Shown::yes,
     "not forward and mode == 'training'"},
    // Quotient and scale. For the gradient of the scale: x, product, sum; of the shift: sum.
    {"flops", "{1 + scale}*elements", Quantity::Shown::yes,
     "backward_data and mode == 'inference'"},
    {"flops", "{1 + scale + 4*scale + shift}*elements", Quantity::Shown::yes,
     "backward_weights and mode == 'inference'"},
    // The result needs the statistics or sums of whole channels. Where these exceed the caches, the
    // source (and the incoming gradient) is read twice.
    {"minimum_traffic_bytes", "3*elements*{element_bytes}", Quantity::Shown::yes,
     "forward and mode == 'training'"},
    {"minimum_traffic_bytes", "5*elements*{element_bytes}", Quantity::Shown::yes,
     "not forward and mode == 'training'"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kImage = "[n, c, d, h, w]";
constexpr std::string_view kGivenToTraining = "mode == 'training' and not forward";
constexpr std::string_view kWrittenByTraining = "mode == 'training' and forward";
// With given statistics, only the gradient of the scale needs source and mean. The first tensor is
// an image in every direction.
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kImage, ElementType::of_case,
     "forward or mode == 'training' or backward_weights and scale"},
    {"diff_destination", TensorRole::input, kImage, ElementType::of_case, "not forward"},
    {"mean", TensorRole::input, "[c]", kStatistic, kGivenToTraining},
    {"variance", TensorRole::input, "[c]", kStatistic, kGivenToTraining},
    {"mean", TensorRole::weights, "[c]", kStatistic,
     "mode == 'inference' and (forward or backward_weights and scale)"},
    {"variance", TensorRole::weights, "[c]", kStatistic, "mode == 'inference'"},
    {"scale", TensorRole::weights, "[c]", kStatistic, "scale"},
    {"shift", TensorRole::weights, "[c]", kStatistic, "shift and forward"},
    {"destination", TensorRole::output, kImage, ElementType::of_case, "forward"},
    {"mean", TensorRole::output, "[c]", kStatistic, kWrittenByTraining},
    {"variance", TensorRole::output, "[c]", kStatistic, kWrittenByTraining},
    {"diff_source", TensorRole::output, kImage, ElementType::of_case, "not forward"},
    {"diff_scale", TensorRole::output, "[c]", kStatistic, "scale and backward_weights"},
    {"diff_shift", TensorRole::output, "[c]", kStatistic, "shift and backward_weights"},
};
constexpr std::string_view kExamples[] = {"n2c16h9",
                                          "n2c16w9",
                                          "n2c16d5h9",
                                          "n2c16h9+noscale+noshift",
                                          "training-n2c16h9",
                                          "training-n3c16w9+noshift",
                                          "training-n2c16d5h9+noscale"};

// Allowed error, in roundings, of difference, root, quotient, product and sum. Their operands are
// of order 1 to 4.
constexpr double kSteps = 32;

Tolerance tolerance(const Problem& problem) {
  if (problem.direction != Direction::forward) {
    return normalisation_gradient_tolerance(problem, "size");
  }
  return is_in_training(problem) ? normalisation_tolerance(problem)
                                 : rounding_tolerance(problem.dtype, kSteps, 1);
}

// Statistics of the batch are known only when the layer before has finished.
std::optional<Join> join(const Problem& layer) {
  if (is_in_training(layer) || layer.direction != Direction::forward) return std::nullopt;
  return Join{Join::Kind::into_weights};
}

// Returns for each channel the terms of scale/sqrt(variance + epsilon) * (x - mean) + shift.
std::vector<ChannelAffine> make_affine(const Problem& layer, ReferenceInputs values) {
  const double epsilon = layer.parameters.real("epsilon");
  const BatchNormInputs inputs(layer, values);
  std::vector<ChannelAffine> channels;
  for (std::size_t k = 0; k < inputs.variance.size(); ++k) {
    channels.push_back({inputs.mean[k],
                        inputs.scale_of(k) / std::sqrt(inputs.variance[k] + epsilon),
                        inputs.shift_of(k)});
  }
  return channels;
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "variance";
}

}  // namespace

bool is_in_training(const Problem& batch_norm) {
  return batch_norm.parameters.word("mode") == "training";
}

extern const Operator batch_norm_operator;
const Operator batch_norm_operator = describe(
    {.name = "batch_norm",
     .help = "batch normalisation, with given statistics or with those of the batch",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "c",
     .directions = kDirections},
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
