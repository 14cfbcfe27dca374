// SPDX-License-Identifier: Apache-2.0
// The operator split: the pieces of a tensor along one axis, which `sizes` divides.
#include "ops/concat/pieces.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"
#include "ops/tolerance.hpp"

namespace bench::ops {
namespace {

constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {.name = "destination", .role = TensorRole::output, .sizes = kPiece, .for_each = "sizes"},
};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  const Pieces pieces(problem);
  return evaluate(problem.tensors[1 + output].elements(), positions, [&](std::int64_t position) {
    return inputs[0][static_cast<std::size_t>(pieces.whole_position({output, position}))];
  });
}

}  // namespace

extern const Operator split_operator;
const Operator split_operator =
    describe(describe_pieces("split", "the pieces of a tensor along one axis", kTensors),
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-split", .sentence = "a copy: nothing is multiplied"},
              .examples = kPieceExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
