// SPDX-License-Identifier: Apache-2.0
// The operator rms_norm (Zhang and Sennrich, arXiv 1910.07467): each group of elements, those of
// the dimensions from `axis` on, is divided by the root of its mean square.
//   destination = scale*source/sqrt(mean(source^2) + epsilon)
// Gradients: source, mean_square, scale, diff_destination -> diff_source, and in direction
// backward_weights also diff_scale (ops/normalisation.hpp has the formulas).
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/normalisation.hpp"

#include <cmath>
#include <cstddef>
#include <unordered_map>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    kNormMode,
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last",
     "first normalised dimension, counted from 0; those behind it are normalised with it", 0},
    // The default of Llama's networks.
    {.name = "epsilon",
     .token = "eps",
     .kind = ParameterKind::real,
     .fallback = "1e-05",
     .help = "added to the mean square, above 0",
     .above = 0},
    {"scale", "noscale", ParameterKind::flag, "true",
     "multiplies by one value per normalised element"},
};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"groups", "prod(shape[:axis])", Quantity::Shown::no},
    {"size", "prod(shape[axis:])", Quantity::Shown::no},
    {"elements", "groups*size"},
    // Square and sum, then the quotient.
    {"flops", "{2 + 1 + scale}*elements", Quantity::Shown::yes, "forward"},
    // x: product. g = scale*dy. Sum of g*x. Products and difference of the result. diff_scale: sum
    // of dy*x.
    {"flops", "{1 + 2 + 3 + scale}*elements", Quantity::Shown::yes, "backward_data"},
    {"flops", "{1 + 2 + 3 + 3*scale}*elements", Quantity::Shown::yes, "backward_weights"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr auto kOfCase = ElementType::of_case;
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kBackward = "backward_data or backward_weights";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"mean_square", TensorRole::input, "[groups]", kStatistic, kBackward},
    {"scale", TensorRole::weights, "shape[axis:]", kStatistic, "scale"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, kBackward},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"mean_square", TensorRole::output, "[groups]", kStatistic, "mode == 'training' and forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, kBackward},
    {"diff_scale", TensorRole::output, "shape[axis:]", kStatistic, "scale and backward_weights"},
};
constexpr FrameworkFunction kFramework[] = {
    {"rms_norm", "source _ scale"},
    {"_fused_rms_norm", "source _ scale"},
    {"_fused_rms_norm_backward", "diff_destination source _ _ scale", "",
     Direction::backward_weights},
};
constexpr std::string_view kExamples[] = {"16x768", "2x16x9x9-a1", "4x40+noscale",
                                          "3x8x20-a1eps0.001", "training-6x70"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  if (problem.direction != Direction::forward) {
    return normalisation_gradient(problem, inputs, output, positions, "mean_square");
  }
  const auto size = static_cast<std::size_t>(quantity(problem, "size"));
  const auto mean_square = [&](std::size_t group) {
    double squares = 0;
    for (const double x : std::span(inputs[0]).subspan(group * size, size)) squares += x * x;
    return squares / static_cast<double>(size);
  };
  if (output > 0) {
    return evaluate(quantity(problem, "groups"), positions, [&](std::int64_t group) {
      return mean_square(static_cast<std::size_t>(group));
    });
  }
  const double epsilon = problem.parameters.real("epsilon");
  const bool has_scale = problem.parameters.flag("scale");
  std::unordered_map<std::size_t, double> roots;  // by group; each is computed once
  return evaluate(problem.tensors[0].elements(), positions, [&](std::int64_t position) {
    const auto index = static_cast<std::size_t>(position);
    const auto [entry, is_new] = roots.try_emplace(index / size, 0.0);
    if (is_new) entry->second = std::sqrt(mean_square(index / size) + epsilon);
    return inputs[0][index] / entry->second * (has_scale ? inputs[1][index % size] : 1);
  });
}

// Roundings that the tolerance allows: square, root, quotient and product, and those of the sum,
// which are n positive terms and so n/2 times a rounding at most, in any order much less.
Tolerance tolerance(const Problem& problem) {
  if (problem.direction != Direction::forward)
    return normalisation_gradient_tolerance(problem, "groups");
  const auto size = static_cast<double>(quantity(problem, "size"));
  return rounding_tolerance(problem.dtype, 16 + 4 * std::sqrt(size), 0);
}

bool is_positive(const Problem& problem, std::size_t tensor) {
  return problem.tensors[tensor].name == "mean_square";
}

}  // namespace

extern const Operator rms_norm_operator;
const Operator rms_norm_operator =
    describe({.name = "rms_norm",
              .help = "division of trailing dimensions by the root of their own mean square",
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
              .product = {.rule = "op-rms-norm",
                          .sentence = "squares, and one factor per element: there is no product of "
                                      "matrices"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
