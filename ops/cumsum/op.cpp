// SPDX-License-Identifier: Apache-2.0
// The operator cumsum: sums of all elements up to each one, along an axis. The gradient sums from
// the end.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last", "axis that is summed along, counted from 0", 0},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {kAxisOfShape};
constexpr Quantity kQuantities[] = {
    {"lines", "prod(shape[:axis])*prod(shape[axis + 1:])", Quantity::Shown::no},
    {"flops", "lines*(shape[axis] - 1)"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr FrameworkFunction kFramework[] = {{"cumsum", "source"}};
constexpr std::string_view kExamples[] = {"4x1000", "3x7x5-a1", "9x4-a0", "33"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const std::size_t line = inner * static_cast<std::size_t>(shape[axis]);
  std::vector<double> sums = inputs[0];
  if (problem.direction == Direction::forward) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (i % line >= inner) sums[i] += sums[i - inner];
    }
  } else {
    for (std::size_t i = sums.size(); i-- > 0;) {
      if (i % line + inner < line) sums[i] += sums[i + inner];
    }
  }
  return evaluate(problem.output().elements(), positions,
                  [&](std::int64_t position) { return sums[static_cast<std::size_t>(position)]; });
}

// A sum of values with random signs (as in reduction), of which each may be as large as the root of
// their number.
Tolerance tolerance(const Problem& problem) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  const double terms = std::sqrt(static_cast<double>(shape[axis]));
  const Tolerance relative = rounding_tolerance(problem.dtype, 8 + 4 * terms, 0);
  return {.absolute = relative.absolute * terms, .relative = relative.relative};
}

}  // namespace

extern const Operator cumsum_operator;
const Operator cumsum_operator =
    describe({.name = "cumsum",
              .help = "sums of all elements up to each one along an axis",
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
              .product = {.rule = "op-cumsum", .sentence = "sums: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
