// SPDX-License-Identifier: Apache-2.0
// The operator concat: tensors joined along one axis. The sizes of the whole are `shape`, those of
// the tensors along the axis are `sizes`.
#include "base/checked.hpp"
#include "ops/concat/pieces.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/operator.hpp"
#include "ops/tensor.hpp"
#include "ops/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

constexpr TensorRow kTensors[] = {
    {.name = "source", .role = TensorRole::input, .sizes = kPiece, .for_each = "sizes"},
    {"destination", TensorRole::output, "shape"},
};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs,
                              std::size_t /*output: there is one*/,
                              std::span<const std::int64_t> positions) {
  const Pieces pieces(problem);
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const PiecePosition piece = pieces.find(position);
    return inputs[piece.number][static_cast<std::size_t>(piece.position)];
  });
}

// The pieces of a layer are its inputs, so `shape` and `sizes` follow from them.
Status infer_concat(ParameterSet& set, std::span<const Dims> inputs) {
  Dims shape = inputs[0];
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const std::int64_t axis = set.has("axis") ? set.count("axis") : last;
  if (axis > last) {
    return Error{.what = fmt::format("`axis` is {}, the inputs have the axes 0 to {}", axis, last),
                 .where = "axis",
                 .next = {}};
  }
  const auto joined = static_cast<std::size_t>(axis);
  Dims sizes;
  for (const Dims& input : inputs) {
    Dims expected = inputs[0];
    if (input.size() == expected.size()) expected[joined] = input[joined];
    if (input != expected) {
      return Error{.what = fmt::format("the inputs {} and {} differ beyond axis {}",
                                       join_dims(inputs[0]), join_dims(input), axis),
                   .where = "inputs",
                   .next = "`axis` is the only axis along which the inputs may differ"};
    }
    sizes.push_back(input[joined]);
  }
  Checked whole = 0;
  for (const std::int64_t size : sizes) whole += size;
  BENCH_ASSIGN_OR_RETURN(shape[joined], in_range(whole, "elements", "inputs"));
  BENCH_RETURN_IF_ERROR(put_inferred(set, "shape", std::move(shape)));
  return put_inferred(set, "sizes", std::move(sizes));
}

// The gradients of the tensors are the pieces of the gradient.
std::vector<GradientStep> gradient(const Problem& layer) {
  Problem split = *make_problem(
      {.op = find_operator("split"), .dtype = layer.dtype, .parameters = layer.parameters});
  GradientStep step{.problems = {{std::move(split), {"diff_destination"}}}, .outputs = {}};
  for (std::size_t i = 0; i < layer.input_count(); ++i) {
    step.outputs.push_back("diff_" + layer.tensors[i].name);
  }
  return {std::move(step)};
}

}  // namespace

extern const Operator concat_operator;
const Operator concat_operator =
    describe(describe_pieces("concat", "tensors joined along one axis", kTensors),
             {.reference = reference,
              .tolerance = exact_tolerance,
              .inference = {.infer = infer_concat},
              .gradient = gradient,
              .product = {.rule = "op-concat", .sentence = "a copy: nothing is multiplied"},
              .examples = kPieceExamples,
              .cuda = kOnCudnn});

}  // namespace bench::ops
