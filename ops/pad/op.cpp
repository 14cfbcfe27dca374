// SPDX-License-Identifier: Apache-2.0
// The operator pad: a tensor with zeros before and behind it along one axis. The gradient of the
// source is the range of that of the destination.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/pad/pad.hpp"
#include "ops/tolerance.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the source"},
    {"axis", "a", ParameterKind::count, "last", "axis that is padded, counted from 0", 0},
    {"before", "b", ParameterKind::count, "0", "zeros before the source along the axis", 0},
    {"after", "e", ParameterKind::count, "0", "zeros behind the source along the axis", 0},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Requirement kRequirements[] = {
    kAxisOfShape,
    {"not integer or forward", "dtype", "the gradient of pad is not defined for integers",
     "use a floating-point type"},
};
constexpr Quantity kQuantities[] = {
    {"used", "prod(shape)", Quantity::Shown::no},
    {"flops", "0"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr std::string_view kPadded =
    "[shape[:axis], before + shape[axis] + after, shape[axis + 1:]]";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, "forward"},
    {"diff_destination", TensorRole::input, kPadded, kOfCase, "backward_data", "used"},
    {"destination", TensorRole::output, kPadded, kOfCase, "forward"},
    {"diff_source", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"4x30-b1e1", "3x7x5-a1b2e3", "9x4-a0e3"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const SliceRange range = padded_range(problem);
  const std::int64_t elements = problem.tensors.back().elements();
  return evaluate(elements, positions, [&](std::int64_t position) {
    if (problem.direction != Direction::forward) {
      return inputs[0][static_cast<std::size_t>(position / range.run * range.line + range.begin +
                                                position % range.run)];
    }
    const std::int64_t place = position % range.line - range.begin;
    if (place < 0 || place >= range.run) return 0.0;
    return inputs[0][static_cast<std::size_t>(position / range.line * range.run + place)];
  });
}

}  // namespace

SliceRange padded_range(const Problem& pad) {
  const Dims& shape = pad.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(pad.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t before = pad.parameters.count("before");
  return {.line = (before + shape[axis] + pad.parameters.count("after")) * inner,
          .begin = before * inner,
          .run = shape[axis] * inner};
}

extern const Operator pad_operator;
const Operator pad_operator =
    describe({.name = "pad",
              .help = "a tensor with zeros before and behind it along one axis",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-pad", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
