// SPDX-License-Identifier: Apache-2.0
// The operator prelu (He et al., arXiv 1502.01852): a rectifier whose slope below 0 is learned.
//   destination = source > 0 ? source : weights*source
// backward_weights: source, weights, diff_destination -> diff_source, diff_weights, which libraries
// compute in the same pass.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/prelu/prelu.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr std::string_view kSlopes[] = {"channel", "one", "all"};
constexpr Parameter kParameters[] = {
    {"slopes", "", ParameterKind::word, "channel",
     "one slope per channel (axis 1), one for all elements, or one per element", 1, kSlopes},
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_weights};
constexpr Requirement kRequirements[] = {
    {"slopes != 'channel' or rank(shape) >= 2", "slopes",
     "the shape {shape} has no channels: they are axis 1", "use `slopes: one` or `slopes: all`"},
};
constexpr Quantity kQuantities[] = {
    {"elements", "prod(shape)", Quantity::Shown::no},
    {"slope_count", "slopes == 'channel' ? shape[1] : (slopes == 'one' ? 1 : elements)",
     Quantity::Shown::no},
    // A comparison and a product.
    {"flops", "2*elements", Quantity::Shown::yes, "forward"},
    // diff_source: a comparison and a product. diff_weights: a product and a sum.
    {"flops", "4*elements", Quantity::Shown::yes, "backward_weights"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kWeights =
    "slopes == 'channel' ? [shape[1]] : (slopes == 'one' ? [1] : shape)";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {"weights", TensorRole::weights, kWeights},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_weights"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_weights"},
    {"diff_weights", TensorRole::output, kWeights, kOfCase, "backward_weights"},
};
constexpr std::string_view kExamples[] = {"channel-2x16x9x9", "one-2x16x9x9", "all-3x40",
                                          "channel-7x33"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const PreluSlopes slopes = prelu_slopes(problem);
  const auto elements = static_cast<std::size_t>(problem.tensors[0].elements());
  const auto& source = inputs[0];
  if (output == 1) {
    std::vector<double> sums(inputs[1].size());
    for (std::size_t i = 0; i < elements; ++i) {
      if (source[i] <= 0) sums[slopes.of(i)] += source[i] * inputs[2][i];
    }
    return evaluate(problem.output(1).elements(), positions, [&](std::int64_t position) {
      return sums[static_cast<std::size_t>(position)];
    });
  }
  const auto& values = problem.direction == Direction::forward ? source : inputs[2];
  return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    return source[i] > 0 ? values[i] : inputs[1][slopes.of(i)] * values[i];
  });
}

// The gradient of a slope is a sum of products with random signs, which grows with the square root
// of their number, and so do its roundings.
Tolerance tolerance(const Problem& problem) {
  Tolerance result = rounding_tolerance(problem.dtype, 4, 0);
  if (problem.direction == Direction::forward) return result;
  const auto terms = static_cast<double>(problem.tensors[0].elements()) /
                     static_cast<double>(quantity(problem, "slope_count"));
  result.absolute =
      rounding_tolerance(problem.dtype, 4 + 4 * std::sqrt(terms), 0).absolute * std::sqrt(terms);
  return result;
}

}  // namespace

PreluSlopes prelu_slopes(const Problem& problem) {
  const auto elements = static_cast<std::size_t>(quantity(problem, "elements"));
  const auto count = static_cast<std::size_t>(quantity(problem, "slope_count"));
  if (problem.parameters.word("slopes") == "all") return {.count = count, .inner = 1};
  if (count == 1) return {.count = 1, .inner = elements};
  const auto images = static_cast<std::size_t>(problem.parameters.numbers("shape")[0]);
  return {.count = count, .inner = elements / images / count};
}

extern const Operator prelu_operator;
const Operator prelu_operator =
    describe({.name = "prelu",
              .help = "rectifier whose slopes below 0 are learned",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections,
              .data_types = DataTypes::floating},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-prelu",
                          .sentence = "one element at a time: there is no product of matrices"},
              .examples = kExamples});

}  // namespace bench::ops
