// SPDX-License-Identifier: Apache-2.0
// The operator swiglu (Shazeer, arXiv 2002.05202), the gate of Llama's feed-forward layers:
//   destination = gate*sigmoid(gate)*up
// backward_data: gate, up, diff_destination -> diff_gate, diff_up.
#include "ops/description.hpp"
#include "ops/model.hpp"

#include <cmath>
#include <cstddef>

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    {"shape", "", ParameterKind::shape, kRequired, "sizes of each of the two tensors"},
};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data};
constexpr Quantity kQuantities[] = {
    {"elements", "prod(shape)", Quantity::Shown::no},
    // Sigmoid 2, two products.
    {"flops", "4*elements", Quantity::Shown::yes, "forward"},
    // Sigmoid 2, swish = gate*sigmoid, diff_up = diff*swish, diff_gate = diff*up*(sigmoid +
    // swish*(1 - sigmoid)).
    {"flops", "{2 + 1 + 1 + 5}*elements", Quantity::Shown::yes, "backward_data"},
    {"sfu_ops", "elements"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr TensorRow kTensors[] = {
    {"gate", TensorRole::input, "shape"},
    {"up", TensorRole::input, "shape"},
    {"diff_destination", TensorRole::input, "shape", kOfCase, "backward_data"},
    {"destination", TensorRole::output, "shape", kOfCase, "forward"},
    {"diff_gate", TensorRole::output, "shape", kOfCase, "backward_data"},
    {"diff_up", TensorRole::output, "shape", kOfCase, "backward_data"},
};
constexpr std::string_view kExamples[] = {"2x1000", "2x16x9x9", "7"};

std::vector<double> reference(const Problem& problem, ReferenceInputs inputs, std::size_t output,
                              std::span<const std::int64_t> positions) {
  return evaluate(problem.tensors.back().elements(), positions, [&](std::int64_t position) {
    const auto i = static_cast<std::size_t>(position);
    const double sigmoid = 1 / (1 + std::exp(-inputs[0][i]));
    const double swish = inputs[0][i] * sigmoid;
    if (problem.direction == Direction::forward) return swish * inputs[1][i];
    return output == 0 ? inputs[2][i] * inputs[1][i] * (sigmoid + swish * (1 - sigmoid))
                       : inputs[2][i] * swish;
  });
}

// Roundings that the tolerance allows: those of a library's exp, and a few products.
Tolerance tolerance(const Problem& problem) { return rounding_tolerance(problem.dtype, 64, 0); }

}  // namespace

extern const Operator swiglu_operator;
const Operator swiglu_operator =
    describe({.name = "swiglu",
              .help = "product of one tensor with the swish of another",
              .parameters = kParameters,
              .quantities = kQuantities,
              .tensors = kTensors,
              .where = "shape",
              .directions = kDirections,
              .data_types = DataTypes::floating},
             {.reference = reference,
              .tolerance = tolerance,
              .product = {.rule = "op-swiglu",
                          .sentence = "one element at a time: there is no product of matrices"},
              .examples = kExamples,
              .cpu = kOnNative,
              .cuda = kOnCudnn});

}  // namespace bench::ops
