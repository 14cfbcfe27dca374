// SPDX-License-Identifier: Apache-2.0
// The operator lstm (ops/recurrent/recurrent.hpp has the formulas).
#include "ops/recurrent/recurrent.hpp"

namespace bench::ops {
namespace {

constexpr Parameter kParameters[] = {
    kSteps, kSequences, kInput, kHidden, kLayers, kBidirectional, kRecurrentBias, kState,
};
constexpr Requirement kRequirements[] = {kEqualLayers, kOneBidirectional, kNoGradientOfStates};
constexpr Quantity kQuantities[] = {
    {"gates", "4", Quantity::Shown::no},
    {"biases", "gates", Quantity::Shown::no},
    kDirectionCount,
    kCells,
    kRecurrentMacs,
    kGradientMacs,
    // f*c + i*g and o*tanh(c).
    {"flops", "2*macs + cells*hidden*(4 + 4*bias)", Quantity::Shown::yes, "forward"},
    // The sum of two gradients of a state; o: 1; c: 5; i, f, g and the cell before: 4; the
    // derivatives of three sigmoids and a tanh: 12. The gradient of a bias is a sum.
    {"flops", "2*macs + cells*hidden*(1 + 1 + 5 + 4 + 12 + 4*bias)", Quantity::Shown::yes,
     "backward_weights"},
    {"sfu_ops", "5*cells*hidden", Quantity::Shown::yes, "forward"},
    {"sfu_ops", "cells*hidden", Quantity::Shown::yes, "backward_weights"},
};
constexpr auto kOfCase = ElementType::of_case;
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kBackward = "backward_weights";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kSourceSizes},
    {"initial_state", TensorRole::input, kStateSizes, kOfCase, "state"},
    {"initial_cell", TensorRole::input, kStateSizes, kStatistic, "state"},
    {"weights", TensorRole::weights, kWeightSizes},
    {"recurrent_weights", TensorRole::weights, kRecurrentSizes},
    {"bias", TensorRole::weights, kBiasSizes, kStatistic, "bias"},
    {"diff_destination", TensorRole::input, kResultSizes, kOfCase, kBackward},
    {"destination", TensorRole::output, kResultSizes, kOfCase, "forward"},
    {"final_state", TensorRole::output, kStateSizes, kOfCase, "state"},
    {"final_cell", TensorRole::output, kStateSizes, kStatistic, "state"},
    {"diff_source", TensorRole::output, kSourceSizes, kOfCase, kBackward},
    {"diff_weights", TensorRole::output, kWeightSizes, kStatistic, kBackward},
    {"diff_recurrent_weights", TensorRole::output, kRecurrentSizes, kStatistic, kBackward},
    {"diff_bias", TensorRole::output, kBiasSizes, kStatistic, "backward_weights and bias"},
};
constexpr std::string_view kExamples[] = {"t3n2i16h16", "t3n2i24h16+nobias", "t5n3i16h16l2+state",
                                          "t4n2i16h20+bidirectional"};

}  // namespace

extern const Operator lstm_operator;
const Operator lstm_operator = describe({.name = "lstm",
                                         .help = "layers of LSTM cells",
                                         .parameters = kParameters,
                                         .requirements = kRequirements,
                                         .quantities = kQuantities,
                                         .tensors = kTensors,
                                         .where = "hidden",
                                         .directions = kRecurrentDirections,
                                         .data_types = DataTypes::floating},
                                        {.reference = recurrent_reference,
                                         .tolerance = recurrent_tolerance,
                                         .filling = {.values = recurrent_values},
                                         .examples = kExamples});

}  // namespace bench::ops
