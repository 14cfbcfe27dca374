// SPDX-License-Identifier: Apache-2.0
// The operator concat: tensors joined along one axis. The sizes of the whole are `shape`, those of
// the tensors along the axis are `sizes`.
#include "ops/concat/pieces.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

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

// The gradients of the tensors are the pieces of the gradient.
std::vector<GradientStep> gradient(const Problem& layer) {
  GradientStep step{.request = {.op = find_operator("split"),
                                .dtype = layer.dtype,
                                .parameters = layer.parameters},
                    .inputs = {"diff_destination"},
                    .outputs = {}};
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
              .gradient = gradient,
              .product = {.rule = "op-concat", .sentence = "a copy: nothing is multiplied"},
              .examples = kPieceExamples,
              .cuda = kOnCudnn});

}  // namespace bench::ops
