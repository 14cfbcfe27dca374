// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm: each group of elements, those of the dimensions from `axis` on, is
// normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Gradients: source, mean, variance, scale, diff_destination -> diff_source, and in direction
// backward_weights also diff_scale and diff_shift, which libraries compute in the same pass
// (ops/normalisation.hpp has the formulas).
// Scale and shift are f32 (f64 for f64), as libraries keep them.
#include "ops/description.hpp"
#include "ops/normalisation.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    kNormMode,
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "first normalised dimension, counted from 0; those behind it are normalised with it", 0},
    kVarianceEpsilon,
    {"scale", "noscale", ParameterKind::flag, "true",
     "multiplies by one value per normalised element"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per normalised element"},
};
constexpr std::string_view kBackends[] = {"onednn", "native"};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"groups", "prod(shape[:axis])", Quantity::Shown::no},
    {"size", "prod(shape[axis:])", Quantity::Shown::no},
    {"elements", "groups*size"},
    // The statistics: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements", Quantity::Shown::yes, "forward"},
    // x: difference, product. g = scale*dy. Sums of g and g*x. Differences and products of the
    // result. diff_scale: sum of dy*x; diff_shift: sum of dy.
    {"flops", "{2 + 3 + 4 + scale}*elements", Quantity::Shown::yes, "backward_data"},
    {"flops", "{2 + 3 + 4 + 3*scale + shift}*elements", Quantity::Shown::yes, "backward_weights"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr auto kOfCase = ElementType::of_case;
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kBackward = "backward_data or backward_weights";
constexpr std::string_view kTraining = "mode == 'training' and forward";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"mean", TensorRole::input, "[groups]", kStatistic, kBackward},
    {"variance", TensorRole::input, "[groups]", kStatistic, kBackward},
    {"scale", TensorRole::weights, "shape[axis:]", kStatistic, "scale"},
    {"shift", TensorRole::weights, "shape[axis:]", kStatistic, "shift and forward"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, kBackward},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"mean", TensorRole::output, "[groups]", kStatistic, kTraining},
    {"variance", TensorRole::output, "[groups]", kStatistic, kTraining},
    {"diff_source", TensorRole::output, "shape", kOfCase, kBackward},
    {"diff_scale", TensorRole::output, "shape[axis:]", kStatistic, "scale and backward_weights"},
    {"diff_shift", TensorRole::output, "shape[axis:]", kStatistic, "shift and backward_weights"},
};
// The list normalized_shape is not recorded, but the shape of the weights is. Without weights, the
// axis does not change the work. Epsilon stays unknown.
constexpr FrameworkFunction kFramework[] = {
    {"layer_norm", "source _ scale shift"},
    {"native_layer_norm", "source _ scale shift"},
    // The shift's place stands for its gradient, which has the same sizes.
    {"native_layer_norm_backward", "diff_destination source _ _ _ scale diff_shift", "",
     Direction::backward_weights},
};
constexpr std::string_view kExamples[] = {"16x768",          "2x16x9x9-a1",
                                          "4x40+noscale",    "3x8x20-a1eps0.001+noscale+noshift",
                                          "training-16x768", "training-6x70+noshift"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  if (problem.direction != Direction::forward) {
    return normalisation_gradient(problem, inputs, output, positions, "variance");
  }
  if (output > 0) return group_statistics(problem, inputs, output, positions);
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  return normalise_groups(problem, inputs, positions,
                          [size](std::size_t index) { return index % size; });
}

Tolerance tolerance(const Problem& problem) {
  return problem.direction == Direction::forward
             ? normalisation_tolerance(problem)
             : normalisation_gradient_tolerance(problem, "groups");
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "variance";
}

}  // namespace

extern const Operator layer_norm_operator;
const Operator layer_norm_operator = describe(
    {.name = "layer_norm",
     .help = "normalisation of trailing dimensions by their own mean and variance",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "shape",
     .directions = kDirections,
     .data_types = DataTypes::floating,
     .framework = kFramework},
    {.reference = reference,
     .tolerance = tolerance,
     .filling = {.is_positive = is_positive},
     .product = {.rule = "op-layer-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cpu = kBackends,
     .cuda = kOnCudnn});

}  // namespace bench::ops
