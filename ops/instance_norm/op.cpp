// SPDX-License-Identifier: Apache-2.0
// The operator instance_norm (Ulyanov et al., arXiv 1607.08022): each channel of each image is
// normalised by its own mean and variance: a group_norm whose groups are single channels.
//   destination = scale*(source - mean)/sqrt(variance + epsilon) + shift
// Scale and shift have one value per channel.
// Gradients: source, mean, variance, scale, diff_destination -> diff_source, and in direction
// backward_weights also diff_scale and diff_shift (ops/normalisation.hpp has the formulas).
#include "ops/description.hpp"
#include "ops/instance_norm/instance_norm.hpp"

#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    kNormMode,
    {"n", "n", ParameterKind::count, "1", "images"},
    {"c", "c", ParameterKind::count, kRequired, "channels"},
    {"d", "d", ParameterKind::count, kOptional, "depth (3-D)"},
    {"h", "h", ParameterKind::count, "like d", "height (2-D and 3-D)"},
    {"w", "w", ParameterKind::count, "like h", "width"},
    kVarianceEpsilon,
    {"scale", "noscale", ParameterKind::flag, "true", "multiplies by one value per channel"},
    {"shift", "noshift", ParameterKind::flag, "true", "adds one value per channel"},
};
constexpr Quantity kQuantities[] = {
    {"volume", "prod([d, h, w])", Quantity::Shown::no},
    {"channel", "n*volume", Quantity::Shown::no},  // elements of a channel
    {"size", "volume", Quantity::Shown::no},
    {"elements", "prod([n, c, d, h, w])", Quantity::Shown::no},
    // As layer_norm: sum; difference, square, sum. Then difference from the mean, and quotient.
    {"flops", "{4 + 2 + scale + shift}*elements", Quantity::Shown::yes, "forward"},
    {"flops", "{2 + 3 + 4 + scale}*elements", Quantity::Shown::yes, "backward_data"},
    {"flops", "{2 + 3 + 4 + 3*scale + shift}*elements", Quantity::Shown::yes, "backward_weights"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr auto kOfCase = ElementType::of_case;
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kImage = "[n, c, d, h, w]";
constexpr std::string_view kStatistics = "[n*c]";
constexpr std::string_view kTraining = "mode == 'training' and forward";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kImage},
    {"mean", TensorRole::input, kStatistics, kStatistic, "not forward"},
    {"variance", TensorRole::input, kStatistics, kStatistic, "not forward"},
    {"scale", TensorRole::weights, "[c]", kStatistic, "scale"},
    {"shift", TensorRole::weights, "[c]", kStatistic, "shift and forward"},
    {"diff_destination", TensorRole::input, kImage, kOfCase, "not forward"},
    {"destination", TensorRole::output, kImage, kOfCase, "forward"},
    {"mean", TensorRole::output, kStatistics, kStatistic, kTraining},
    {"variance", TensorRole::output, kStatistics, kStatistic, kTraining},
    {"diff_source", TensorRole::output, kImage, kOfCase, "not forward"},
    {"diff_scale", TensorRole::output, "[c]", kStatistic, "scale and backward_weights"},
    {"diff_shift", TensorRole::output, "[c]", kStatistic, "shift and backward_weights"},
};
constexpr std::string_view kExamples[] = {"n2c16h9", "n2c6w9+noshift", "c8d3h4",
                                          "n2c4h5+noscale+noshift", "training-n2c16h9"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  if (problem.direction != Direction::forward) {
    return normalisation_gradient(problem, inputs, output, positions, "variance",
                                  instance_norm_layout(problem));
  }
  if (output > 0) return group_statistics(problem, inputs, output, positions);
  const auto volume = static_cast<std::size_t>(quantity(problem, "volume"));
  const auto channels = static_cast<std::size_t>(problem.parameters.count("c"));
  return normalise_groups(problem, inputs, positions, [volume, channels](std::size_t index) {
    return index / volume % channels;
  });
}

Tolerance tolerance(const Problem& problem) {
  return problem.direction == Direction::forward
             ? normalisation_tolerance(problem)
             : normalisation_gradient_tolerance(problem, "channel");
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "variance";
}

}  // namespace

NormParameterLayout instance_norm_layout(const Problem& problem) {
  return {.groups_per_image = static_cast<std::size_t>(problem.parameters.count("c")),
          .volume = static_cast<std::size_t>(quantity(problem, "volume"))};
}

extern const Operator instance_norm_operator;
const Operator instance_norm_operator = describe(
    {.name = "instance_norm",
     .help = "normalisation of each channel of an image by its own mean and variance",
     .parameters = kParameters,
     .quantities = kQuantities,
     .tensors = kTensors,
     .where = "c",
     .directions = kDirections,
     .data_types = DataTypes::floating},
    {.reference = reference,
     .tolerance = tolerance,
     .inference = kImageInference,
     .filling = {.is_positive = is_positive},
     .product = {.rule = "op-instance-norm",
                 .sentence = "sums, and one factor per element: there is no product of matrices"},
     .examples = kExamples,
     .cpu = kOnNative,
     .cuda = kOnCudnn});

}  // namespace bench::ops
