// SPDX-License-Identifier: Apache-2.0
// The operator gru (ops/recurrent/recurrent.hpp has the formulas).
#include "ops/recurrent/recurrent.hpp"

namespace bench::ops {
namespace {

constexpr std::string_view kResets[] = {"after", "before"};
constexpr Parameter kParameters[] = {
    {"reset", "", ParameterKind::word, "after",
     "whether the gate r multiplies the product of state and weights (PyTorch, cuDNN), or the "
     "state before it",
     1, kResets},
    kSteps,
    kSequences,
    kInput,
    kHidden,
    kLayers,
    kBidirectional,
    kRecurrentBias,
    kState,
};
constexpr Requirement kRequirements[] = {kEqualLayers, kOneBidirectional, kNoGradientOfStates};
constexpr Quantity kQuantities[] = {
    {"gates", "3", Quantity::Shown::no},
    {"biases", "reset == 'after' ? 4 : 3", Quantity::Shown::no},
    kDirectionCount,
    kCells,
    kRecurrentMacs,
    kGradientMacs,
    // r*h, or r*(U h + b'); u*h, 1 - u, its product with o, and the sum.
    {"flops", "2*macs + cells*hidden*(5 + biases*bias)", Quantity::Shown::yes, "forward"},
    // The sum of two gradients of a state; u: 2; o: 2; the state: 1; the derivatives of two
    // sigmoids and a tanh: 9; r and what it multiplies: 2, before the product also a sum. The
    // gradient of a bias is a sum.
    {"flops",
     "2*macs + cells*hidden*(1 + 2 + 2 + 1 + 9 + (reset == 'after' ? 2 : 3) + biases*bias)",
     Quantity::Shown::yes, "backward_weights"},
    {"sfu_ops", "3*cells*hidden", Quantity::Shown::yes, "forward"},
};
constexpr std::string_view kExamples[] = {"t3n2i16h16", "before-t3n2i24h16+nobias",
                                          "before-t5n3i16h16l2+state", "t4n2i16h20+bidirectional"};

}  // namespace

extern const Operator gru_operator;
const Operator gru_operator = describe({.name = "gru",
                                        .help = "layers of GRU cells",
                                        .parameters = kParameters,
                                        .requirements = kRequirements,
                                        .quantities = kQuantities,
                                        .tensors = kCellTensors,
                                        .where = "hidden",
                                        .directions = kRecurrentDirections,
                                        .data_types = DataTypes::floating},
                                       {.reference = recurrent_reference,
                                        .tolerance = recurrent_tolerance,
                                        .filling = {.values = recurrent_values},
                                        .examples = kExamples});

}  // namespace bench::ops
