// SPDX-License-Identifier: Apache-2.0
// The operator gather: slices of a tensor along one axis by their indices, as
// torch.index_select(source, axis, indices).
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of the tensor"},
    {"axis", "a", ParameterKind::count, "last", "axis of the slices, counted from 0", 0},
    {"indices", "i", ParameterKind::count, kRequired,
     "slices that are taken; none repeats until all were"},
};
constexpr Requirement kRequirements[] = {
    kAxisOfShape,
    {"shape[axis] <= 2147483647", "shape",
     "axis {axis} of `shape` has {shape[axis]} slices, indices (s32) name 2147483647 at most"},
};
constexpr Quantity kQuantities[] = {
    {"slice", "prod(shape[:axis])*prod(shape[axis + 1:])", Quantity::Shown::no},
    // The indices do not repeat before each slice was named (ops/fill.hpp), so this is exact.
    {"slices_read", "min(shape[axis], indices)"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape", kOfCase, {}, "slices_read*slice"},
    {"indices", TensorRole::input, "[indices]", ElementType::index, {}, {}, "shape[axis]"},
    {"destination", TensorRole::output, "[shape[:axis], indices, shape[axis + 1:]]"},
};
constexpr std::string_view kExamples[] = {"64x1000-i128", "64x1000-a0i16", "2x30x4x5-a1i40"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  const auto size = static_cast<std::size_t>(shape[axis]);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const std::size_t count = inputs[1].size();
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const auto slice = static_cast<std::size_t>(inputs[1][i / inner % count]);
    return inputs[0][(i / inner / count * size + slice) * inner + i % inner];
  });
}

// The rows of a tensor are those of a table, and the gradient of a table sums over the indices.
// That of inner slices has no operator.
std::vector<GradientStep> gradient(const Problem& layer) {
  const Dims& shape = layer.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(layer.parameters.count("axis"));
  const auto first = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  if (std::any_of(shape.begin(), first, [](std::int64_t size) { return size > 1; })) return {};
  const Operator* embedding = find_operator("embedding");
  ParameterSet parameters(embedding->parameters);
  parameters.set("rows", *first);
  parameters.set("dim", quantity(layer, "slice"));
  parameters.set("indices", layer.parameters.count("indices"));
  Result<Problem> table = make_problem({.op = embedding,
                                        .direction = Direction::backward_weights,
                                        .dtype = layer.dtype,
                                        .parameters = std::move(parameters)});
  if (!table) return {};  // integers have no gradient
  return {{.problems = {{*std::move(table), {"diff_destination", "indices"}}},
           .outputs = {"diff_source"}}};
}

}  // namespace

extern const Operator gather_operator;
const Operator gather_operator =
    describe({.name = "gather",
              .help = "slices of a tensor along one axis by their indices",
              .parameters = kParameters,
              .requirements = kRequirements,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape"},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .gradient = gradient,
              .product = {.rule = "op-gather", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
