// SPDX-License-Identifier: Apache-2.0
// The operator rnn (ops/recurrent/recurrent.hpp has the formulas).
#include "ops/recurrent/recurrent.hpp"

namespace bench::ops {
namespace {

constexpr std::string_view kFunctions[] = {"tanh", "relu"};
constexpr Parameter kParameters[] = {
    {"function", "", ParameterKind::word, "tanh", "the function of a cell", 1, kFunctions},
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
    {"gates", "1", Quantity::Shown::no},
    {"biases", "gates", Quantity::Shown::no},
    kDirectionCount,
    kCells,
    kRecurrentMacs,
    kGradientMacs,
    {"flops", "2*macs + cells*hidden*bias", Quantity::Shown::yes, "forward"},
    // The sum of two gradients of a state; of tanh its square, a difference, a product; of relu a
    // product. The gradient of a bias is a sum.
    {"flops", "2*macs + cells*hidden*(1 + (function == 'tanh' ? 3 : 1) + bias)",
     Quantity::Shown::yes, "backward_weights"},
    {"sfu_ops", "function == 'tanh' ? cells*hidden : 0", Quantity::Shown::yes, "forward"},
};
constexpr std::string_view kExamples[] = {"t3n2i16h16", "relu-t3n2i24h16+nobias",
                                          "t5n3i16h16l2+state", "t4n2i16h20+bidirectional"};

}  // namespace

extern const Operator rnn_operator;
const Operator rnn_operator = describe({.name = "rnn",
                                        .help = "layers of simple recurrent cells: tanh or relu",
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
