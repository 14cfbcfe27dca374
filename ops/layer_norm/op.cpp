// SPDX-License-Identifier: Apache-2.0
// The operator layer_norm: each group of elements, those of the dimensions from `axis` on, is
// normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Scale and shift are f32 (f64 for f64), as libraries keep them.
#include "ops/description.hpp"
#include "ops/normalisation.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "first normalised dimension, counted from 0; those behind it are normalised with it", 0},
    kVarianceEpsilon,
    {"scale", "noscale", ParameterKind::flag, "true",
     "multiplies by one value per normalised element"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per normalised element"},
};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"groups", "prod(shape[:axis])", Quantity::Shown::no},
    {"size", "prod(shape[axis:])", Quantity::Shown::no},
    {"elements", "groups*size"},
    // The statistics: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"scale", TensorRole::weights, "shape[axis:]", ElementType::statistic, "scale"},
    {"shift", TensorRole::weights, "shape[axis:]", ElementType::statistic, "shift"},
    {"destination", TensorRole::output, "shape"},
};
// The list normalized_shape is not recorded, but the shape of the weights is. Without weights, the
// axis does not change the work. Epsilon stays unknown.
constexpr FrameworkFunction kFramework[] = {
    {"layer_norm", "source _ scale shift"},
    {"native_layer_norm", "source _ scale shift"},
};
constexpr std::string_view kExamples[] = {"16x768", "2x16x9x9-a1", "4x40+noscale",
                                          "3x8x20-a1eps0.001+noscale+noshift"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  return normalise_groups(problem, inputs, positions,
                          [size](std::size_t index) { return index % size; });
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
     .data_types = DataTypes::floating,
     .framework = kFramework},
    {.reference = reference,
     .tolerance = normalisation_tolerance,
     .product = {.rule = "op-layer-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cuda = kOnCudnn});

}  // namespace bench::ops
