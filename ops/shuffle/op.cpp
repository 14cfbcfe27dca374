// SPDX-License-Identifier: Apache-2.0
// The operator shuffle (ShuffleNet, arXiv 1707.01083): the slices along an axis are divided into
// groups, and the result takes one slice of each group in turn, as
// torch.nn.functional.channel_shuffle(source, groups).
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "1", "axis of the slices, counted from 0", 0},
    {"groups", "g", ParameterKind::count, kRequired, "groups of slices; divides their number"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    kAxisOfShape,
    {"shape[axis]/groups*groups == shape[axis]", "groups",
     "`groups` is {groups}, which does not divide {shape[axis]} slices along the axis {axis}"},
    {"not integer or forward", "dtype", "the gradient of shuffle is not defined for integers",
     "use a floating-point type"},
};
constexpr Quantity kQuantities[] = {{"flops", "0"}};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"2x16x9x9-g4", "3x12x7-g3", "6x40-a0g2", "2x24x3x4x5-g8"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  // A gradient divides into the other factor.
  const std::int64_t groups = problem.parameters.count("groups");
  const std::int64_t size = shape[axis];
  const std::int64_t step = problem.direction == Direction::forward ? groups : size / groups;
  return evaluate(problem.output().elements(), positions, [&](std::int64_t position) {
    const std::int64_t slice = position / inner % size;
    const std::int64_t from = slice % step * (size / step) + slice / step;
    return inputs[0][static_cast<std::size_t>(position + (from - slice) * inner)];
  });
}

}  // namespace

extern const Operator shuffle_operator;
const Operator shuffle_operator =
    describe({.name = "shuffle",
              .help = "slices along an axis, one of each group in turn",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-shuffle", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples});

}  // namespace bench::ops
