// SPDX-License-Identifier: Apache-2.0
// The operator slice: a range of a tensor along one axis, as torch.narrow(source, axis, begin,
// size) copied into a tensor of its own.
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <cstddef>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last", "axis of the range, counted from 0", 0},
    {"begin", "b", ParameterKind::count, "0", "where the range begins on the axis", 0},
    {"size", "s", ParameterKind::count, kRequired, "size of the range along the axis"},
};
constexpr Requirement kRequirements[] = {
    kAxisOfShape,
    {"begin + size <= shape[axis]", "size",
     "the range ends at {begin + size}, axis {axis} of the shape {shape} has {shape[axis]}"},
};
constexpr Quantity kQuantities[] = {
    {"range", "prod(shape[:axis])*size*prod(shape[axis + 1:])", Quantity::Shown::no},
    {"flops", "0"},
};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", ElementType::of_case, {}, "range"},
    {"destination", TensorRole::output, "[shape[:axis], size, shape[axis + 1:]]"},
};
constexpr std::string_view kExamples[] = {"4x30-s10", "4x30-b20s10", "3x7x5-a1b2s4", "9x4-a0b1s3"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const std::int64_t run = problem.parameters.count("size") * inner;
  const std::int64_t begin = problem.parameters.count("begin") * inner;
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const std::int64_t line = position / run * shape[axis] * inner;
    return inputs[0][static_cast<std::size_t>(line + begin + position % run)];
  });
}

}  // namespace

extern const Operator slice_operator;
const Operator slice_operator =
    describe({.name = "slice",
              .help = "a range of a tensor along one axis, copied",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape"},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-slice", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
