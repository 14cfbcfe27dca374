// SPDX-License-Identifier: Apache-2.0
#include "ops/network/network.hpp"
#include "ops/network/test_support.hpp"
#include "ops/operator.hpp"
#include "ops/optimizer/optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using op_test::layer;
using op_test::view;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Values = std::vector<double>;

Network make_training(const NetworkDefinition& definition, std::int64_t batch,
                      DataType dtype = DataType::f64) {
  auto network = make_network(definition, batch, dtype, Mode::training, Fusion::separate);
  if (!network.ok()) ADD_FAILURE() << network.error().message();
  return *std::move(network);
}

// A small network with everything that a gradient passes: convolutions, pooling, norms, a residual,
// a concatenation, a view, products and activations.
NetworkDefinition small_network() {
  return {
      .name = "small",
      .input = {3, 6, 6},
      .layers = {layer("conv1", "conv", "k4r3s3p1+bias", {"input"}),
                 layer("bn1", "batch_norm", {"conv1"}), layer("tanh", "pointwise", "tanh", {"bn1"}),
                 layer("pool", "pool", "avg_include_pad-r2u2", {"tanh"}),
                 layer("conv2", "conv", "k4r3s3p1", {"pool"}),
                 layer("add", "pointwise", "add", {"conv2", "pool"}),
                 layer("mul", "pointwise", "mul", {"add", "conv2"}),
                 layer("sub", "pointwise", "sub", {"mul", "pool"}), view("rows", {1, 36}, "sub"),
                 layer("fc1", "gemm", "n8+bias", {"rows"}), layer("norm", "layer_norm", {"fc1"}),
                 layer("sigmoid", "pointwise", "sigmoid", {"norm"}),
                 layer("fc2", "gemm", "n5+bias", {"sigmoid"})}};
}

std::vector<Values> inputs_of(const Network& network, std::uint64_t seed) {
  std::vector<Values> inputs;
  for (std::size_t i = 0; i < network.input_count(); ++i) {
    inputs.push_back(random_input(network, i, seed + i));
  }
  return inputs;
}

// The loss of a step: the losses of the rows, weighted by the input `loss.gradient`.
double total_loss(const Network& network, const std::vector<Values>& parameters,
                  const std::vector<Values>& inputs) {
  const std::vector<Values> outputs = op_test::run_reference(network, parameters, inputs);
  double sum = 0;
  for (std::size_t i = 0; i < outputs[0].size(); ++i) sum += outputs[0][i] * inputs.back()[i];
  return sum;
}

// Compares the gradient of each parameter, which the step of sgd shows, with finite differences.
void expect_gradients(const Network& network) {
  const std::vector<Values> inputs = inputs_of(network, 7);
  std::vector<Values> parameters = random_parameters(network, 3);
  const std::vector<Values> outputs = op_test::run_reference(network, parameters, inputs);
  constexpr double kStep = 1e-5;
  std::size_t output = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Network::ParameterPlace place = network.parameter_places[p];
    if (!is_learned(network.nodes[place.node].problem.tensors[place.tensor])) continue;
    ASSERT_LT(++output, outputs.size());
    const std::string& name = network.tensors[network.input_count() + p].name;
    const std::size_t stride = std::max<std::size_t>(parameters[p].size() / 7, 1);
    for (std::size_t i = 0; i < parameters[p].size(); i += stride) {
      const double value = parameters[p][i];
      parameters[p][i] = value + kStep;
      const double above = total_loss(network, parameters, inputs);
      parameters[p][i] = value - kStep;
      const double below = total_loss(network, parameters, inputs);
      parameters[p][i] = value;
      const double gradient = (value - outputs[output][i]) / kLearningRate;
      EXPECT_NEAR(gradient, (above - below) / (2 * kStep), 1e-5 * (1 + std::abs(gradient)))
          << name << " " << i;
    }
  }
  EXPECT_EQ(output + 1, outputs.size());
}

TEST(Training, GradientsAreFiniteDifferences) {
  expect_gradients(make_training(small_network(), 2));
}

// Each operand of `function` is broadcast in one of its layers: of fewer dimensions, of one value
// per channel, and each against the other. What may divide is positive.
NetworkDefinition broadcast_network(const std::string& function) {
  return {.name = "gated",
          .input = {},
          .layers = {layer("conv", "conv", "k4r3s3p1", {"x"}),
                     layer("y.conv", "conv", "k4r5s5+bias", {"y"}),
                     layer("y.tanh", "pointwise", "tanh", {"y.conv"}),
                     layer("gate", "pointwise", "sigmoid", {"y.tanh"}),
                     view("gate.channels", {4, 1, 1}, "gate"),
                     layer("gated", "pointwise", function, {"conv", "gate.channels"}),
                     layer("gated.tanh", "pointwise", "tanh", {"gated"}),
                     layer("gated.sigmoid", "pointwise", "sigmoid", {"gated.tanh"}),
                     layer("swapped", "pointwise", function, {"gate", "gated.sigmoid"}),
                     layer("rows", "conv", "k4r5s1", {"swapped"}),
                     layer("columns", "conv", "k4r1s5", {"swapped"}),
                     layer("columns.tanh", "pointwise", "tanh", {"columns"}),
                     layer("columns.sigmoid", "pointwise", "sigmoid", {"columns.tanh"}),
                     layer("both", "pointwise", function, {"rows", "columns.sigmoid"}),
                     layer("fc", "gemm", "n3", {"both"})},
          .inputs = {{"x", {2, 3, 5, 5}}, {"y", {1, 3, 5, 5}}}};
}

TEST(Training, GradientsOfBroadcastOperandsAreFiniteDifferences) {
  for (const std::string function : {"add", "sub", "mul", "div", "max", "min"}) {
    SCOPED_TRACE(function);
    const Network network = make_training(broadcast_network(function), 1);
    EXPECT_EQ(network.gap, std::nullopt);
    expect_gradients(network);
  }
}

TEST(Training, GradientsOfSlicesAndGathersAreFiniteDifferences) {
  const NetworkDefinition definition{
      .name = "pieces",
      .input = {},
      .layers = {layer("fc", "gemm", "n8+bias", {"x"}), layer("left", "slice", "6x8-s4", {"fc"}),
                 layer("right", "slice", "6x8-b3s4", {"fc"}),
                 layer("mul", "pointwise", "mul", {"left", "right"}),
                 layer("picked", "gather", "6x4-a0i9", {"mul", "picks"}),
                 layer("out", "gemm", "n3", {"picked"})},
      .inputs = {{"x", {6, 5}}, {"picks", {9}}}};
  const Network network = make_training(definition, 1);
  EXPECT_EQ(network.gap, std::nullopt);
  expect_gradients(network);
}

// A small U-Net: the way down and up, joined by channels, and scores of each point of the image.
// U-Net could not be measured as one step, because a loss reads rows.
TEST(Training, GradientsOfClassesPerPointAreFiniteDifferences) {
  LayerDefinition joined = layer("joined", "concat", {"conv.tanh", "up"});
  joined.parameters.set("axis", std::int64_t{1});
  const NetworkDefinition definition{
      .name = "points",
      .input = {3, 6, 6},
      .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                 layer("conv.tanh", "pointwise", "tanh", {"conv"}),
                 layer("pool", "pool", "avg_include_pad-r2u2", {"conv.tanh"}),
                 layer("up", "conv", "k4r2u2+bias+transposed", {"pool"}), joined,
                 layer("last", "conv", "k3r1+bias", {"joined"})}};
  const Network network = make_training(definition, 2);
  EXPECT_EQ(network.gap, std::nullopt);
  expect_gradients(network);
}

TEST(Training, ReordersMakeTheClassesOfPointsTheLastDimension) {
  const NetworkDefinition definition{.name = "points",
                                     .input = {3, 5, 7},
                                     .layers = {layer("last", "conv", "k4r3s3p1", {"input"})}};
  const Network network = make_training(definition, 2);
  EXPECT_EQ(network.gap, std::nullopt);
  EXPECT_THAT(
      op_test::node_names(network),
      ElementsAre("last", "loss.rows.forward", "loss.forward", "loss.backward_data",
                  "loss.rows.backward_data", "last.backward_weights", "last.weights.optimizer"));
  EXPECT_EQ(problem_tokens(network.nodes[1].problem), "2x4x5x7-p0x2x3x1");
  EXPECT_EQ(problem_tokens(network.nodes[2].problem), "softmax_cross_entropy-b70c4");
  EXPECT_EQ(problem_tokens(network.nodes[4].problem), "2x5x7x4-p0x3x1x2");
  EXPECT_EQ(network.nodes[4].pass, Pass::loss);
}

// BERT, GPT-2 and Llama could not be measured as one step: attention in its forward pass did not
// write what its gradient reads, and a network with a cache has several outputs.
TEST(Training, GradientsOfATransformerAreFiniteDifferences) {
  for (const std::int64_t batch : {1, 2}) {
    const Network network = make_training(op_test::transformer_network(), batch);
    EXPECT_EQ(network.gap, std::nullopt);
    expect_gradients(network);
  }
}

TEST(Training, GradientsOfAGroupNormAreFiniteDifferences) {
  const NetworkDefinition definition{
      .name = "groups",
      .input = {3, 5, 5},
      .layers = {layer("conv1", "conv", "k6r3s3p1+bias", {"input"}),
                 layer("norm1", "group_norm", "g3", {"conv1"}),
                 layer("tanh", "pointwise", "tanh", {"norm1"}),
                 layer("conv2", "conv", "k4r3s3", {"tanh"}),
                 layer("norm2", "group_norm", "g1+noscale", {"conv2"}),
                 layer("fc", "gemm", "n3", {"norm2"})}};
  const Network network = make_training(definition, 2);
  EXPECT_EQ(network.gap, std::nullopt);
  expect_gradients(network);
}

// The mixture of experts could not be measured as one step: neither the products of groups nor the
// sum over the experts of a token had a gradient.
TEST(Training, GradientsOfAMixtureOfExpertsAreFiniteDifferences) {
  for (const std::int64_t batch : {1, 2}) {
    const Network network = make_training(op_test::mixture_network(), batch);
    EXPECT_EQ(network.gap, std::nullopt);
    expect_gradients(network);
  }
}

TEST(Training, GradientsOfReductionsAreFiniteDifferences) {
  for (const char* tokens : {"sum-2x4x5x5-a2x3", "mean-2x4x5x5-a1", "mean-2x4x5x5-a0x2x3",
                             "l1-2x4x5x5-a1x3", "l2-2x4x5x5-a2", "l2-2x4x5x5-a0x1"}) {
    SCOPED_TRACE(tokens);
    const NetworkDefinition definition{
        .name = "reduced",
        .input = {},
        .layers = {layer("conv", "conv", "k4r3s3p1", {"x"}),
                   layer("reduced", "reduction", tokens, {"conv"}),
                   layer("gated", "pointwise", "mul", {"conv", "reduced"}),
                   layer("fc", "gemm", "n3", {"gated"})},
        .inputs = {{"x", {2, 3, 5, 5}}}};
    const Network network = make_training(definition, 1);
    EXPECT_EQ(network.gap, std::nullopt);
    expect_gradients(network);
  }
}

// Which element of a maximum has the gradient depends on the values, and a product divides by them.
TEST(Training, AMaximumAlongAnAxisHasNoGradient) {
  for (const std::string function : {"max", "min", "prod"}) {
    const NetworkDefinition definition{
        .name = "largest",
        .input = {},
        .layers = {layer("fc", "gemm", "n8", {"x"}),
                   layer("largest", "reduction", function + "-6x8-a0", {"fc"}),
                   layer("out", "gemm", "n3", {"largest"})},
        .inputs = {{"x", {6, 5}}}};
    EXPECT_THAT(make_training(definition, 1).gap.value_or(""),
                HasSubstr("`largest` (reduction, `source`)"));
  }
}

TEST(Training, AttentionPassesItsLogarithmsToItsGradient) {
  const Network network = make_training(op_test::transformer_network(), 2);
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(network.nodes, name, &Node::name);
    return static_cast<std::size_t>(found - network.nodes.begin());
  };
  const std::size_t forward = find("context"), backward = find("context.backward_data");
  ASSERT_LT(backward, network.nodes.size());
  const Node& gradient = network.nodes[backward];
  EXPECT_EQ(problem_tokens(network.nodes[forward].problem), "training-b2h2g1q6d4+causal");
  EXPECT_EQ(gradient.problem.tensors[3].name, "destination");
  EXPECT_EQ(gradient.sources[3], from_node(forward, 0));
  EXPECT_EQ(gradient.problem.tensors[4].name, "log_sum");
  EXPECT_EQ(gradient.sources[4], from_node(forward, 1));
  // 21 pairs of each of two heads and two sequences; five products of 4 elements.
  EXPECT_EQ(gradient.problem.work.flops, 2 * 5 * 4 * 21 * 2 * 2);
}

TEST(Training, TheLossReadsTheOutputThatItNames) {
  NetworkDefinition definition = op_test::transformer_network();
  const Network network = make_training(definition, 1);
  const auto loss = std::ranges::find(network.nodes, "loss.forward", &Node::name);
  ASSERT_NE(loss, network.nodes.end());
  EXPECT_EQ(network.nodes[loss->sources[0].index].name, "down.add");
  // The keys are not a result of a step.
  EXPECT_EQ(network.tensors[network.tensors.size() - network.outputs.size()].name, "loss");
  definition.training = {};
  EXPECT_THAT(make_training(definition, 1).gap.value_or(""),
              HasSubstr("has one output, and the network has 2"));
  definition.training = {layer("loss", "loss", {"gelu"})};
  const auto wrong = make_network(definition, 1, DataType::f64, Mode::training, Fusion::separate);
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.error().what, HasSubstr("`gelu`, which is not one output of the network"));
}

TEST(Training, TheGradientOfABroadcastOperandIsASum) {
  std::vector<std::string> problems;
  for (const Node& node : make_training(broadcast_network("div"), 1).nodes) {
    if (node.name == "gated.backward_data") problems.push_back(problem_tokens(node.problem));
  }
  EXPECT_THAT(problems,
              ElementsAre("div-2x4x5x5-4x1x1", "mul-2x4x5x5-2x4x5x5", "sum-2x4x5x5-a0x2x3",
                          "div-1x4x1x1-4x1x1", "scale-1x4x1x1-alpha-1"));
}

TEST(Training, NodesAreInTheOrderOfAStep) {
  const NetworkDefinition definition{.name = "cnn",
                                     .input = {1, 8, 8},
                                     .layers = {layer("conv", "conv", "k4r3s3", {"input"}),
                                                layer("relu", "pointwise", "relu", {"conv"}),
                                                layer("fc", "gemm", "n10+bias", {"relu"})}};
  const Network network = make_training(definition, 2, DataType::f32);
  EXPECT_THAT(
      op_test::node_names(network),
      ElementsAre("conv", "relu", "fc", "loss.forward", "loss.backward_data", "fc.backward_data",
                  "fc.backward_weights", "relu.backward_data", "conv.backward_weights",
                  "conv.weights.optimizer", "fc.weights.optimizer", "fc.bias.optimizer"));
  std::vector<std::string> tensors;
  for (const Tensor& tensor : network.tensors) tensors.push_back(tensor.name);
  EXPECT_THAT(tensors, ElementsAre("input", "loss.labels", "loss.gradient", "conv.weights",
                                   "fc.weights", "fc.bias", "loss", "conv.weights.new_parameters",
                                   "fc.weights.new_parameters", "fc.bias.new_parameters"));
  EXPECT_EQ(network.tensors[1].dtype, DataType::s32);
  EXPECT_TRUE(holds_indices(network, 1));
  EXPECT_FALSE(holds_indices(network, 0));
  EXPECT_EQ(network.parameters, 4 * 9 + 10 * 4 * 36 + 10);
  EXPECT_EQ(network.gap, std::nullopt);
  // The gradient's product and the optimizer read the parameter of the forward pass.
  EXPECT_EQ(network.nodes[5].sources[1], from_parameter(1));
  EXPECT_EQ(network.nodes[10].sources[0], from_parameter(1));
}

// Both convolutions of the input have only a gradient of their weights; no step computes another
// one.
TEST(Training, TheFirstLayerHasNoDataGradient) {
  const NetworkDefinition definition{
      .name = "scaled",
      .input = {4, 5, 5},
      .layers = {layer("square", "pointwise", "square", {"input"}),
                 layer("a", "conv", "k4r3s3p1", {"square"}), layer("b", "conv", "k4r3s3p1", {"a"}),
                 layer("fc", "gemm", "n3", {"b"})}};
  std::vector<std::string> gradients;
  for (const DistinctLayer& each : distinct_layers(make_training(definition, 1))) {
    if (each.pass != Pass::backward_data) continue;
    gradients.insert(gradients.end(), each.layers.begin(), each.layers.end());
  }
  EXPECT_THAT(gradients, ElementsAre("fc", "b"));
}

TEST(Training, AnOptimizerWithStateHasItAsParameters) {
  NetworkDefinition definition = small_network();
  definition.training = {layer("optimizer", "optimizer", "sgd-e1m0.5", {})};
  const Network network = make_training(definition, 1);
  const Network plain = make_training(small_network(), 1);
  EXPECT_EQ(network.parameters, plain.parameters);  // the state is not learned
  EXPECT_EQ(network.parameter_places.size(), 2 * plain.parameter_places.size());
  EXPECT_EQ(network.outputs.size(), 2 * plain.outputs.size() - 1);
  EXPECT_EQ(network.tensors.back().name, "fc2.bias.new_buffer");
}

// An embedding's table has the rows outermost, and so must the tensor whose slices are gathered.
TEST(Training, OnlyAGatherOfRowsHasAGradient) {
  const auto gap = [](const char* tokens, Dims picks) {
    const NetworkDefinition definition{
        .name = "gathered",
        .input = {},
        .layers = {layer("fc", "gemm", "n8", {"x"}), layer("picked", "gather", tokens, {"fc", "i"}),
                   layer("out", "gemm", "n3", {"picked"})},
        .inputs = {{"x", {6, 5}}, {"i", std::move(picks)}}};
    return make_training(definition, 1).gap.value_or("");
  };
  EXPECT_EQ(gap("6x8-a0i9", {9}), "");
  EXPECT_THAT(gap("6x8-a1i4", {4}), HasSubstr("`picked` (gather, `source`)"));
}

TEST(Training, AGradientThatNoOperatorComputesIsAGap) {
  const NetworkDefinition definition{
      .name = "gap",
      .input = {},
      .layers = {layer("first", "gemm", "n8", {"x"}),
                 layer("picked", "gather", "6x8-a1i4", {"first", "i"}),
                 layer("last", "gemm", "n3", {"picked"})},
      .inputs = {{"x", {6, 5}}, {"i", {4}}}};
  const Network network = make_training(definition, 1);
  EXPECT_THAT(network.gap.value_or(""),
              HasSubstr("gradient of the layer `picked` (gather, `source`)"));
  EXPECT_THAT(network.nodes[1].without_gradient, ElementsAre(Direction::backward_data));
  EXPECT_THAT(network.nodes[0].without_gradient, IsEmpty());
  // Its layers are measured all the same.
  EXPECT_TRUE(std::ranges::any_of(
      network.nodes, [](const Node& node) { return node.name == "first.backward_weights"; }));
}

// Only one of two equal operands has the gradient, so that their sum is that of the result.
TEST(Training, TheGradientOfEqualOperandsCountsOnce) {
  for (const std::string function : {"max", "min"}) {
    const NetworkDefinition twice{.name = "twice",
                                  .input = {4, 5, 5},
                                  .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                                             layer("same", "pointwise", function, {"conv", "conv"}),
                                             layer("fc", "gemm", "n3", {"same"})}};
    const Network network = make_training(twice, 2);
    EXPECT_EQ(network.gap, std::nullopt);
    expect_gradients(network);
  }
}

TEST(Training, TheGradientOfAMaximumComparesItsOperands) {
  std::vector<std::string> problems;
  for (const Node& node : make_training(broadcast_network("max"), 1).nodes) {
    if (node.name != "gated.backward_data") continue;
    problems.push_back(problem_tokens(node.problem));
    EXPECT_EQ(node.problem.work.flops, node.problem.op->name == "reduction" ? 4 * 49 : 200);
  }
  // The gradient of the first operand, then that of the second one, which was broadcast.
  EXPECT_THAT(problems, ElementsAre("sub-2x4x5x5-4x1x1", "relu-2x4x5x5", "sub-2x4x5x5-4x1x1",
                                    "relu-2x4x5x5", "sub-2x4x5x5-2x4x5x5", "sum-2x4x5x5-a0x2x3"));
}

// Returns the tokens of the loss behind a convolution of 4 channels and these layers, or the gap.
std::string loss_behind(std::vector<LayerDefinition> layers) {
  layers.insert(layers.begin(), layer("conv", "conv", "k4r3s3p1", {"input"}));
  const Network network =
      make_training({.name = "image", .input = {3, 5, 5}, .layers = std::move(layers)}, 2);
  if (network.gap) return *network.gap;
  const auto loss = std::ranges::find(network.nodes, "loss.forward", &Node::name);
  return problem_tokens(loss->problem);
}

// The last dimension was taken for the classes behind operators that have no parameter `c`: 8 rows
// of one class.
TEST(Training, TheClassesOfAnImageAreItsChannelsBehindEveryOperator) {
  const std::string want = "softmax_cross_entropy-b2c4";
  EXPECT_EQ(loss_behind({layer("pool", "pool", "avg_include_pad+global", {"conv"})}), want);
  EXPECT_EQ(loss_behind({layer("pool", "pool", "avg_include_pad+global", {"conv"}),
                         layer("relu", "pointwise", "relu", {"pool"}),
                         layer("add", "pointwise", "add", {"relu", "pool"})}),
            want);
  EXPECT_EQ(loss_behind({layer("relu", "pointwise", "relu", {"conv"})}),
            "softmax_cross_entropy-b50c4");
  EXPECT_EQ(loss_behind({layer("relu", "pointwise", "relu", {"conv"}),
                         layer("last", "reorder", "2x4x5x5-p0x2x3x1", {"relu"})}),
            "softmax_cross_entropy-b50c4");
  EXPECT_EQ(
      loss_behind({view("words", {10, 10}, "conv"), layer("relu", "pointwise", "relu", {"words"})}),
      "softmax_cross_entropy-b20c10");
}

TEST(Training, WithoutALossOnlyTheLayersAreMeasured) {
  const NetworkDefinition image{.name = "image",
                                .input = {4, 5, 5},
                                .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                                           layer("relu", "pointwise", "relu", {"conv"}),
                                           layer("last", "conv", "k4r3s3p1", {"relu"})},
                                .outputs = {"relu", "last"}};
  const Network network = make_training(image, 1);
  EXPECT_THAT(network.gap.value_or(""), HasSubstr("has one output, and the network has 2"));
  EXPECT_THAT(op_test::node_names(network),
              ElementsAre("conv", "relu", "last", "last.backward_data", "last.backward_weights",
                          "relu.sum.backward_data", "relu.backward_data", "conv.backward_weights",
                          "conv.weights.optimizer", "last.weights.optimizer"));
}

}  // namespace
}  // namespace bench::ops
