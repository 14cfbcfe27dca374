// SPDX-License-Identifier: Apache-2.0
#include "ops/network/network.hpp"

#include "ops/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using op_test::layer;
using op_test::make;
using op_test::node_names;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Two convolutions, a projection of the input, and their sum: a residual block of ResNet.
NetworkDefinition residual_block() {
  return {.name = "block",
          .input = {8, 6, 6},
          .layers = {layer("conv1", "conv", "k4r1s1", {"input"}),
                     layer("conv1.bn", "batch_norm", "", {"conv1"}),
                     layer("conv1.relu", "pointwise", "relu", {"conv1.bn"}),
                     layer("conv2", "conv", "k16r3s3p1", {"conv1.relu"}),
                     layer("conv2.bn", "batch_norm", "", {"conv2"}),
                     layer("downsample", "conv", "k16r1s1", {"input"}),
                     layer("downsample.bn", "batch_norm", "", {"downsample"}),
                     layer("add", "pointwise", "add", {"conv2.bn", "downsample.bn"}),
                     layer("relu", "pointwise", "relu", {"add"}),
                     layer("pool", "pool", "avg_include_pad+global", {"relu"}),
                     layer("fc", "gemm", "n10+bias", {"pool"})}};
}

TEST(Network, SeparateLayersStandAsWritten) {
  const Network network = make(residual_block(), Fusion::separate, DataType::f32, 2);
  EXPECT_THAT(node_names(network),
              ElementsAre("conv1", "conv1.bn", "conv1.relu", "conv2", "conv2.bn", "downsample",
                          "downsample.bn", "add", "relu", "pool", "fc"));
  EXPECT_EQ(problem_tokens(network.nodes[0].problem), "n2c8h6w6k4r1s1");
  EXPECT_EQ(problem_tokens(network.nodes[1].problem), "n2c4h6w6");
  EXPECT_EQ(problem_tokens(network.nodes[2].problem), "relu-2x4x6x6");
  EXPECT_EQ(problem_tokens(network.nodes[7].problem), "add-2x16x6x6-2x16x6x6");
  EXPECT_EQ(problem_tokens(network.nodes[9].problem), "avg_include_pad-n2c16h6w6+global");
  EXPECT_EQ(problem_tokens(network.nodes[10].problem), "m2n10k16+tb+bias");
  EXPECT_THAT(network.nodes[7].sources, ElementsAre(from_node(4), from_node(6)));
  EXPECT_THAT(network.nodes[5].sources, ElementsAre(from_input(0), from_parameter(10)));
  for (const Node& node : network.nodes) EXPECT_THAT(node.fused, IsEmpty());
}

TEST(Network, FusedBlockIsThreeConvolutions) {
  const Network network = make(residual_block(), Fusion::fused, DataType::f32);
  ASSERT_THAT(node_names(network), ElementsAre("conv1", "conv2", "downsample", "pool", "fc"));
  const std::vector<Node>& nodes = network.nodes;
  EXPECT_EQ(problem_tokens(nodes[0].problem), "c8h6w6k4r1s1+bias+relu");
  EXPECT_EQ(problem_tokens(nodes[1].problem), "c4h6w6k16r3s3p1+bias");
  EXPECT_EQ(problem_tokens(nodes[2].problem), "c8h6w6k16r1s1+bias+add+relu");
  EXPECT_THAT(nodes[0].fused, ElementsAre("conv1.bn", "conv1.relu"));
  EXPECT_THAT(nodes[1].fused, ElementsAre("conv2.bn"));
  EXPECT_THAT(nodes[2].fused, ElementsAre("downsample.bn", "add", "relu"));
  // The later convolution does the addition; the other one's result is its residual.
  EXPECT_THAT(nodes[2].sources,
              ElementsAre(from_input(0), from_parameter(4), from_parameter(5), from_node(1)));
  EXPECT_EQ(nodes[2].problem.tensors[3].name, "residual");
  EXPECT_THAT(nodes[4].sources, ElementsAre(from_node(3), from_parameter(6), from_parameter(7)));
}

TEST(Network, TrainingNeverFuses) {
  const Result<Network> network =
      make_network(residual_block(), 4, DataType::f32, Mode::training, Fusion::fused);
  ASSERT_TRUE(network.ok());
  EXPECT_EQ(std::ranges::count(network->nodes, Pass::forward, &Node::pass),
            std::ssize(residual_block().layers));
}

TEST(Network, TensorsAreInputParametersOutput) {
  const Network network = make(residual_block(), Fusion::fused, DataType::bf16, 3);
  std::vector<std::string> names;
  for (const Tensor& tensor : network.tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("input", "conv1.weights", "conv1.bias", "conv2.weights",
                                 "conv2.bias", "downsample.weights", "downsample.bias",
                                 "fc.weights", "fc.bias", "output"));
  EXPECT_EQ(network.tensors.front().dims, (Dims{3, 8, 6, 6}));
  EXPECT_EQ(network.tensors.back().dims, (Dims{3, 10}));
  ASSERT_EQ(network.parameter_places.size(), network.tensors.size() - 2);
  for (std::size_t i = 0; i < network.parameter_places.size(); ++i) {
    const auto [node, tensor] = network.parameter_places[i];
    const Tensor& place = network.nodes[static_cast<std::size_t>(node)]
                              .problem.tensors[static_cast<std::size_t>(tensor)];
    EXPECT_EQ(place.dims, network.tensors[i + 1].dims);
    EXPECT_EQ(place.role, TensorRole::weights);
  }
}

TEST(Network, WorkByHand) {
  const Network network = make(residual_block(), Fusion::separate, DataType::f32, 2);
  const std::int64_t macs = 2 * (36 * 8 * 4 + 36 * 4 * 16 * 9 + 36 * 8 * 16 + 16 * 10);
  EXPECT_EQ(network.work.macs, macs);
  const std::int64_t elements4 = 2 * 4 * 36;
  const std::int64_t elements16 = 2 * 16 * 36;
  EXPECT_EQ(network.work.flops, 2 * macs + 4 * elements4 + elements4 + 2 * 4 * elements16 +
                                    2 * elements16 + elements16 + 2 * 10);
  EXPECT_EQ(network.parameters, 8 * 4 + 2 * 4 + 4 * 16 * 9 + 2 * 16 + 8 * 16 + 2 * 16 + 160 + 10);
  EXPECT_EQ(network.work.bytes_written, 4 * 2 * 10);
  // Batch norm's mean and variance are read too, but not learned.
  const std::int64_t weights = 4 * (network.parameters + 2 * (4 + 16 + 16));
  EXPECT_EQ(network.weights_size().count, weights);
  EXPECT_EQ(network.work.bytes_read, 4 * 2 * 8 * 36 + weights);
  const Network fused = make(residual_block(), Fusion::fused, DataType::f32, 2);
  EXPECT_EQ(fused.work.macs, macs);
  EXPECT_EQ(fused.parameters, network.parameters);
}

TEST(Network, EqualLayersAreMeasuredOnce) {
  NetworkDefinition definition{.name = "twice", .input = {4, 5, 5}, .layers = {}};
  std::string before = "input";
  for (const std::string name : {"a", "b", "c"}) {
    definition.layers.push_back(layer(name, "conv", "k4r3s3p1", {before}));
    before = name;
    if (name == "c") break;
    definition.layers.push_back(layer(name + ".relu", "pointwise", "relu", {before}));
    before = name + ".relu";
  }
  const std::vector<DistinctLayer> fused =
      distinct_layers(make(definition, Fusion::fused, DataType::f32));
  ASSERT_EQ(fused.size(), 2u);  // equal shapes with different post-ops are different layers
  EXPECT_EQ(problem_tokens(fused[0].problem), "c4h5w5k4r3s3p1+relu");
  EXPECT_THAT(fused[0].layers, ElementsAre("a", "b"));
  EXPECT_THAT(fused[1].layers, ElementsAre("c"));
  const std::vector<DistinctLayer> separate =
      distinct_layers(make(definition, Fusion::separate, DataType::f32));
  ASSERT_EQ(separate.size(), 2u);
  EXPECT_THAT(separate[0].layers, ElementsAre("a", "b", "c"));
  EXPECT_THAT(separate[1].layers, ElementsAre("a.relu", "b.relu"));
}

// The residual comes from a layer later in the list than the convolution that adds it.
TEST(Network, AFusedNodeWaitsForItsResidual) {
  const NetworkDefinition definition{
      .name = "late",
      .input = {4, 5, 5},
      .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                 layer("pool", "pool", "max-r3u1p1", {"input"}),
                 layer("add", "pointwise", "add", {"conv", "pool"})}};
  const Network network = make(definition, Fusion::fused, DataType::f32);
  EXPECT_THAT(node_names(network), ElementsAre("pool", "conv"));
  EXPECT_THAT(network.nodes[1].sources,
              ElementsAre(from_input(0), from_parameter(0), from_node(0)));
}

TEST(Network, WhatIsReadTwiceIsNotFused) {
  const NetworkDefinition definition{
      .name = "twice",
      .input = {4, 5, 5},
      .layers = {layer("conv", "conv", "k4r3s3p1", {"input"}),
                 layer("bn", "batch_norm", "", {"conv"}),
                 layer("relu", "pointwise", "relu", {"conv"}),
                 layer("double", "pointwise", "add", {"relu", "relu"}),
                 layer("add", "pointwise", "add", {"bn", "double"})}};
  EXPECT_THAT(node_names(make(definition, Fusion::fused, DataType::f32)),
              ElementsAre("conv", "bn", "relu", "double", "add"));
}

// A broadcast addend is not a residual, a batch norm after an activation cannot be folded, and sub
// is not a post-op.
TEST(Network, WhatHasNoPostOpStays) {
  const NetworkDefinition definition{
      .name = "stays",
      .input = {4, 5, 5},
      .layers = {layer("conv", "conv", "k4r1s1", {"input"}),
                 layer("relu", "pointwise", "relu", {"conv"}),
                 layer("bn", "batch_norm", "", {"relu"}),
                 layer("gap", "pool", "avg_include_pad+global", {"bn"}),
                 layer("gate", "conv", "k4r1s1", {"gap"}),
                 layer("scaled", "pointwise", "add", {"bn", "gate"}),
                 layer("other", "conv", "k4r1s1", {"scaled"}),
                 layer("sub", "pointwise", "sub", {"other", "input"})}};
  EXPECT_THAT(node_names(make(definition, Fusion::fused, DataType::f32)),
              ElementsAre("conv", "bn", "gap", "gate", "scaled", "other", "sub"));
}

TEST(Network, CoefficientsTravelWithThePostOp) {
  const NetworkDefinition definition{
      .name = "clips",
      .input = {4, 5, 5},
      .layers = {layer("a", "conv", "k4r1s1", {"input"}),
                 layer("a.clip", "pointwise", "clip", {"a"}),
                 layer("b", "conv", "k4r1s1", {"a.clip"}),
                 layer("b.clip", "pointwise", "clip-alpha-1beta1", {"b"})}};
  const Network network = make(definition, Fusion::fused, DataType::f32);
  EXPECT_EQ(problem_tokens(network.nodes[0].problem), "c4h5w5k4r1s1+clip");
  EXPECT_EQ(problem_tokens(network.nodes[1].problem), "c4h5w5k4r1s1+clip-1_1");
}

struct Refused {
  std::vector<LayerDefinition> layers;
  std::string where;
  std::string what;
};

TEST(Network, FaultsAreNamed) {
  const std::vector<Refused> cases = {
      {{}, "net", "no layers"},
      {{layer("a", "conv", "k4r1s1", {"input"}), layer("a", "conv", "k4r1s1", {"a"})},
       "a",
       "two layers"},
      {{layer("input", "conv", "k4r1s1", {"input"})}, "input", "cannot be called"},
      {{layer("conv", "conv", "k4r1s1", {"inptu"})}, "conv.inputs", "`inptu`"},
      {{layer("a", "conv", "k4r1s1", {"c"}), layer("b", "conv", "k4r1s1", {"a"}),
        layer("c", "conv", "k4r1s1", {"b"}), layer("d", "conv", "k4r1s1", {"c"})},
       "a",
       "a -> b -> c -> a"},
      {{layer("a", "conv", "k4r1s1", {"a"})}, "a", "a -> a"},
      {{layer("a", "conv", "k4r1s1", {"input"}), layer("b", "conv", "k4r1s1", {"input"})},
       "a",
       "no layer reads `a`"},
      {{layer("a", "conv", "c5k4r1s1", {"input"})}, "a.c", "`c` is 5"},
      {{layer("a", "conv", "k4r7s7", {"input"})}, "a.h", "empty"},
      {{layer("a", "conv", "k4r1s1", {"input", "input"})}, "a.inputs", "2 inputs, expected 1"},
      {{layer("a", "pointwise", "add", {"input"})}, "a.inputs", "1 inputs, expected 2"},
      {{layer("a", "gemm", "n4", {"input"}), layer("b", "conv", "k4r1s1", {"a"})},
       "b.inputs",
       "not have 1 to 3 spatial"},
      {{layer("a", "conv", "k5r1s1", {"input"}), layer("b", "pointwise", "add", {"a", "input"})},
       "b.b",
       "do not broadcast"},
      {{layer("a", "gemm", "n4+ta", {"input"})}, "a.trans_a", "makes it false"},
  };
  for (const Refused& refused : cases) {
    const NetworkDefinition definition{.name = "net", .input = {4, 5, 5}, .layers = refused.layers};
    const Result<Network> network =
        make_network(definition, 1, DataType::f32, Mode::inference, Fusion::fused);
    ASSERT_FALSE(network.ok()) << refused.what;
    EXPECT_EQ(network.error().where, refused.where) << network.error().message();
    EXPECT_THAT(network.error().what, HasSubstr(refused.what));
  }
}

TEST(Network, UnknownNamesGetTheNearestOne) {
  const NetworkDefinition operators{.name = "net",
                                    .input = {4, 5, 5},
                                    .layers = {{.name = "a", .op = "cnov", .inputs = {"input"}}}};
  const auto unknown =
      make_network(operators, 1, DataType::f32, Mode::inference, Fusion::fused).error();
  EXPECT_EQ(unknown.where, "a.op");
  EXPECT_THAT(unknown.next, HasSubstr("conv"));
  const NetworkDefinition inputs{.name = "net",
                                 .input = {4, 5, 5},
                                 .layers = {layer("stem", "conv", "k4r1s1", {"input"}),
                                            layer("b", "conv", "k4r1s1", {"stm"})}};
  EXPECT_THAT(make_network(inputs, 1, DataType::f32, Mode::inference, Fusion::fused).error().next,
              HasSubstr("`stem`"));
}

// A convolution of s8 produces s32, and nothing rescales it to s8.
TEST(Network, IntegersAreNotRequantized) {
  const Result<Network> network =
      make_network(residual_block(), 1, DataType::s8, Mode::inference, Fusion::fused);
  ASSERT_FALSE(network.ok());
  EXPECT_EQ(network.error().where, "conv1.bn.dtype");
}

// A layer's result would be positions outside of the table.
TEST(Network, ALayerThatReadsIndicesIsRefused) {
  const NetworkDefinition words{
      .name = "words", .input = {8}, .layers = {layer("words", "embedding", "r4d2i8", {"input"})}};
  EXPECT_FALSE(make_network(words, 1, DataType::f32, Mode::inference, Fusion::separate).ok());
  // Conditions on parameters that the layer leaves out have their defaults.
  const NetworkDefinition step{
      .name = "step",
      .input = {8},
      .layers = {layer("step", "optimizer", "adam-e8", {"input", "input"})}};
  const auto made = make_network(step, 1, DataType::f32, Mode::inference, Fusion::separate);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().what, "the layer has 2 inputs, expected 4");
}

// Each layer fits into 63 bits, but their sum does not.
TEST(Network, SumsBeyondTheRangeAreRefused) {
  const std::string k = std::to_string((std::int64_t{1} << 60) + 1);
  NetworkDefinition definition{.name = "huge", .input = {1, 1, 1}, .layers = {}};
  std::string last = "input";
  for (int i = 0; i < 16; ++i) {
    const std::string up = "up" + std::to_string(i);
    const std::string down = "down" + std::to_string(i);
    definition.layers.push_back(layer(up, "conv", "k" + k + "r1s1", {last}));
    definition.layers.push_back(layer(down, "conv", "k1r1s1", {up}));
    last = down;
  }
  const Result<Network> network =
      make_network(definition, 1, DataType::f32, Mode::inference, Fusion::fused);
  ASSERT_FALSE(network.ok());
  EXPECT_THAT(network.error().what, HasSubstr("2^63 - 1"));
}

TEST(Network, ImpossibleInputsAreNamed) {
  NetworkDefinition definition = residual_block();
  const auto where = [&](std::int64_t batch) {
    return make_network(definition, batch, DataType::f32, Mode::inference, Fusion::fused)
        .error()
        .where;
  };
  EXPECT_EQ(where(0), "batch");
  definition.input = {3, 0, 5};
  EXPECT_EQ(where(1), "input");
  definition.input = {};
  EXPECT_EQ(where(1), "input");
  definition.input = {std::int64_t{1} << 40, std::int64_t{1} << 40, 5};
  EXPECT_EQ(where(1), "input");
}

}  // namespace
}  // namespace bench::ops
