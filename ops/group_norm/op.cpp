// SPDX-License-Identifier: Apache-2.0
// The operator group_norm (Wu and He, arXiv 1803.08494): the channels of each image are divided
// into groups, and each group is normalised by its own mean and variance.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Scale and shift have one value per channel.
#include "ops/description.hpp"
#include "ops/normalisation.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"n", "n", ParameterKind::count, "1", "images"},
    {"c", "c", ParameterKind::count, kRequired, "channels"},
    {"d", "d", ParameterKind::count, kOptional, "depth (3-D)"},
    {"h", "h", ParameterKind::count, "like d", "height (2-D and 3-D)"},
    {"w", "w", ParameterKind::count, "like h", "width"},
    {"groups", "g", ParameterKind::count, kRequired, "groups of channels; divides `c`"},
    kVarianceEpsilon,
    {"scale", "noscale", ParameterKind::flag, "true", "multiplies by one value per channel"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per channel"},
};
constexpr Requirement kRequirements[] = {
    {"c/groups*groups == c", "groups", "`groups` is {groups}, which does not divide {c} channels"},
};
constexpr Quantity kQuantities[] = {
    {"volume", "prod([d, h, w])", Quantity::Shown::no},
    {"size", "c/groups*volume", Quantity::Shown::no},
    {"elements", "prod([n, c, d, h, w])", Quantity::Shown::no},
    // As layer_norm: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "[n, c, d, h, w]"},
    {"scale", TensorRole::weights, "[c]", ElementType::statistic, "scale"},
    {"shift", TensorRole::weights, "[c]", ElementType::statistic, "shift"},
    {"destination", TensorRole::output, "[n, c, d, h, w]"},
};
constexpr std::string_view kExamples[] = {"n2c16h9g4", "n2c6w9g3+noshift", "c8d3h4g1",
                                          "n2c4h5g4+noscale+noshift"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const auto volume = static_cast<std::size_t>(quantity(problem, "volume"));
  const auto channels = static_cast<std::size_t>(problem.parameters.count("c"));
  return normalise_groups(problem, inputs, positions, [volume, channels](std::size_t index) {
    return index / volume % channels;
  });
}

}  // namespace

extern const Operator group_norm_operator;
const Operator group_norm_operator = describe(
    {.name = "group_norm",
     .help = "normalisation of groups of channels by their own mean and variance",
     .parameters = kParameters,
     .requirements = kRequirements,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "c",
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = normalisation_tolerance,
     .inference = kImageInference,
     .product = {.rule = "op-group-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
