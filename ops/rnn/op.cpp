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
constexpr auto kOfCase = ElementType::of_case;
constexpr auto kStatistic = ElementType::statistic;
constexpr std::string_view kBackward = "backward_weights";
constexpr TensorRow kTensors[] = {
    {"source", TensorRole::input, kSourceSizes},
    {"initial_state", TensorRole::input, kStateSizes, kOfCase, "state"},
    {"weights", TensorRole::weights, kWeightSizes},
    {"recurrent_weights", TensorRole::weights, kRecurrentSizes},
    {"bias", TensorRole::weights, kBiasSizes, kStatistic, "bias"},
    {"diff_destination", TensorRole::input, kResultSizes, kOfCase, kBackward},
    {"destination", TensorRole::output, kResultSizes, kOfCase, "forward"},
    {"final_state", TensorRole::output, kStateSizes, kOfCase, "state"},
    {"diff_source", TensorRole::output, kSourceSizes, kOfCase, kBackward},
    {"diff_weights", TensorRole::output, kWeightSizes, kStatistic, kBackward},
    {"diff_recurrent_weights", TensorRole::output, kRecurrentSizes, kStatistic, kBackward},
    {"diff_bias", TensorRole::output, kBiasSizes, kStatistic, "backward_weights and bias"},
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
                                        .tensors = kTensors,
                                        .where = "hidden",
                                        .directions = kRecurrentDirections,
                                        .data_types = DataTypes::floating},
                                       {.reference = recurrent_reference,
                                        .tolerance = recurrent_tolerance,
                                        .filling = {.values = recurrent_values},
                                        .examples = kExamples});

}  // namespace bench::ops
