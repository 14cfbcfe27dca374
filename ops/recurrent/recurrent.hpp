// SPDX-License-Identifier: Apache-2.0
// What the operators rnn, lstm and gru share: layers of cells that run through the steps of
// sequences, with x the input of a layer at a step and h the state after it.
//   rnn    h' = f(W x + U h + b)
//   lstm   i, f, o = sigmoid(...), g = tanh(...); c' = f*c + i*g; h' = o*tanh(c')
//   gru    u, r = sigmoid(...); o = tanh(W x + U (r*h) + b), or with `reset: after`
//          o = tanh(W x + r*(U h + b') + b); h' = u*h + (1 - u)*o
// The gates are in this order: i, f, g, o; u, r, o (and the bias b' of `reset: after` last), as in
// oneDNN. The first layer has the input `source`, the others the state of the layer before. A
// bidirectional layer also runs from the last step to the first; the destination has the states of
// both directions.
// backward_weights: the gradients of the source, the weights and the bias, which libraries compute
// in one pass. The gates that the forward pass keeps for it are not counted.
#pragma once

#include "ops/description.hpp"
#include "ops/operator.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace bench::ops {

// --- The rows of the descriptions.
inline constexpr Parameter kSteps = {"steps", "t", ParameterKind::count, "1",
                                     "steps of a sequence"};
inline constexpr Parameter kSequences = {"n", "n", ParameterKind::count, "1", "sequences"};
inline constexpr Parameter kInput = {"input", "i", ParameterKind::count, kRequired,
                                     "size of the source at a step"};
inline constexpr Parameter kHidden = {"hidden", "h", ParameterKind::count, "input",
                                      "size of a state"};
inline constexpr Parameter kLayers = {"layers", "l", ParameterKind::count, "1",
                                      "layers; more than one need `hidden` = `input`"};
inline constexpr Parameter kBidirectional = {"bidirectional", "bidirectional", ParameterKind::flag,
                                             "false",
                                             "the layer also runs from the last step to the first"};
inline constexpr Parameter kRecurrentBias = {"bias", "nobias", ParameterKind::flag, "true",
                                             "adds one value per gate and element of the state"};
inline constexpr Parameter kState = {
    "state", "state", ParameterKind::flag, "false",
    "reads the first state and writes the last; else it begins with zeros"};

inline constexpr Requirement kEqualLayers = {
    "layers == 1 or hidden == input", "layers",
    "`layers` is {layers}, but a layer after the first has an input of {hidden} and not of {input}",
    "use one case per layer, or `hidden` = `input`"};
inline constexpr Requirement kOneBidirectional = {
    "layers == 1 or not bidirectional", "layers",
    "`layers` is {layers}, but the states of two directions are twice as long as an input",
    "use one case per bidirectional layer"};
inline constexpr Requirement kNoGradientOfStates = {
    "forward or not state", "state", "the gradients of first and last states are not computed",
    "leave `state` out"};

// Quantities that follow `gates`, the gates of a cell.
inline constexpr Quantity kDirectionCount = {"directions", "bidirectional ? 2 : 1",
                                             Quantity::Shown::no};
inline constexpr Quantity kCells = {"cells", "layers*directions*steps*n"};
inline constexpr Quantity kRecurrentMacs = {"macs", "cells*gates*hidden*(input + hidden)",
                                            Quantity::Shown::yes, "forward"};
// The gradients of the input and the state, and those of the weights.
inline constexpr Quantity kGradientMacs = {"macs", "2*cells*gates*hidden*(input + hidden)",
                                           Quantity::Shown::yes, "backward_weights"};

inline constexpr std::string_view kSourceSizes = "[steps, n, input]";
inline constexpr std::string_view kResultSizes = "[steps, n, directions*hidden]";
inline constexpr std::string_view kStateSizes = "[layers, directions, n, hidden]";
inline constexpr std::string_view kWeightSizes = "[layers, directions, input, gates, hidden]";
inline constexpr std::string_view kRecurrentSizes = "[layers, directions, hidden, gates, hidden]";
inline constexpr std::string_view kBiasSizes = "[layers, directions, biases, hidden]";
inline constexpr Direction kRecurrentDirections[] = {Direction::forward,
                                                     Direction::backward_weights};

// The tensors of cells that have no other state than their result.
inline constexpr TensorRow kCellTensors[] = {
    {"source", TensorRole::input, kSourceSizes},
    {"initial_state", TensorRole::input, kStateSizes, ElementType::of_case, "state"},
    {"weights", TensorRole::weights, kWeightSizes},
    {"recurrent_weights", TensorRole::weights, kRecurrentSizes},
    {"bias", TensorRole::weights, kBiasSizes, ElementType::statistic, "bias"},
    {"diff_destination", TensorRole::input, kResultSizes, ElementType::of_case, "backward_weights"},
    {"destination", TensorRole::output, kResultSizes, ElementType::of_case, "forward"},
    {"final_state", TensorRole::output, kStateSizes, ElementType::of_case, "state"},
    {"diff_source", TensorRole::output, kSourceSizes, ElementType::of_case, "backward_weights"},
    {"diff_weights", TensorRole::output, kWeightSizes, ElementType::statistic, "backward_weights"},
    {"diff_recurrent_weights", TensorRole::output, kRecurrentSizes, ElementType::statistic,
     "backward_weights"},
    {"diff_bias", TensorRole::output, kBiasSizes, ElementType::statistic,
     "backward_weights and bias"},
};

// --- The functions of the operators.
std::vector<double> recurrent_reference(const Problem& problem, ReferenceInputs inputs,
                                        std::size_t output,
                                        std::span<const std::int64_t> positions);
Tolerance recurrent_tolerance(const Problem& problem);
// Values of the weights between -1/sqrt(hidden) and 1/sqrt(hidden), as PyTorch initialises them:
// with larger ones, small differences grow from step to step.
std::optional<std::vector<double>> recurrent_values(const Problem& problem, std::size_t tensor,
                                                    std::uint64_t stream);

}  // namespace bench::ops
