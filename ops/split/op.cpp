// SPDX-License-Identifier: Apache-2.0
// The operator split: the pieces of a tensor along one axis, which `sizes` divides.
#include "ops/concat/pieces.hpp"
#include "ops/description.hpp"
#include "ops/model.hpp"

namespace bench::ops {
namespace {

constexpr Requirement kRequirements[] = {kAxisOfShape, kSizesOfAxis};
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, "shape"},
    {.name = "destination", .role = TensorRole::output, .sizes = kPiece, .for_each = "sizes"},
};
constexpr std::string_view kExamples[] = {"2x7x9-a1s3x4", "10x16-a0s1x2x3x4", "3x40-s8x32"};

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
    describe({.name = "split",
              .help = "the pieces of a tensor along one axis",
              .parameters = kPieceParameters,
              .requirements = kRequirements,
              .quantities = kPieceQuantities,
              .tensors = kTensors,
              .where = "shape"},
             {.reference = reference,
              .tolerance = exact_tolerance,
              .product = {.rule = "op-split", .sentence = "a copy: nothing is multiplied"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
