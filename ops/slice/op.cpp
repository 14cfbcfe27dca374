// SPDX-License-Identifier: Apache-2.0
// The operator slice: a range of a tensor along one axis, as torch.narrow(source, axis, begin,
// size) copied into a tensor of its own. The gradient of the source is that of the range, and 0
// elsewhere.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/slice/slice.hpp"
#include "ops/tolerance.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last", "axis of the range, counted from 0", 0},
    {"begin", "b", ParameterKind::count, "0", "where the range begins on the axis", 0},
    {"size", "s", ParameterKind::count, kRequired, "size of the range along the axis"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    kAxisOfShape,
    {"not integer or forward", "dtype", "the gradient of slice is not defined for integers",
     "use a floating-point type"},
    {"begin + size <= shape[axis]", "size",
     "the range ends at {begin + size}, axis {axis} of the shape {shape} has {shape[axis]}"},
};
constexpr Quantity kQuantities[] = {
    {"range", "prod(shape[:axis])*size*prod(shape[axis + 1:])", Quantity::Shown::no},
    {"flops", "0"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kRange = "[shape[:axis], size, shape[axis + 1:]]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward", "range"},
    {"diff_destination", TensorRole::input, kRange, kOfCase, "backward_data"},
    {"destination", TensorRole::output, kRange, kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"4x30-s10", "4x30-b20s10", "3x7x5-a1b2s4", "9x4-a0b1s3"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const SliceRange range = slice_range(problem);
  const std::int64_t elements = problem.tensors.back().elements();
  if (problem.direction == Direction::forward) {
    return evaluate(elements, positions, [&](std::int64_t position) {
      return inputs[0][static_cast<std::size_t>(position / range.run * range.line + range.begin +
                                                position % range.run)];
    });
  }
  return evaluate(elements, positions, [&](std::int64_t position) {
    const std::int64_t place = position % range.line - range.begin;
    if (place < 0 || place >= range.run) return 0.0;
    return inputs[0][static_cast<std::size_t>(position / range.line * range.run + place)];
  });
}

}  // namespace

SliceRange slice_range(const Problem& slice) {
  const Dims& shape = slice.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(slice.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  return {.line = shape[axis] * inner,
          .begin = slice.parameters.count("begin") * inner,
          .run = slice.parameters.count("size") * inner};
}

extern const Operator slice_operator;
const Operator slice_operator =
    describe({.name = "slice",
              .help = "a range of a tensor along one axis, copied",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-slice", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
