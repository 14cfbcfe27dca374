// SPDX-License-Identifier: Apache-2.0
// Networks with several inputs and outputs, views, and products of two activations.
#include "ops/network/graph.hpp"

#include "ops/network/test_support.hpp"
#include "ops/operator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bench::ops {
namespace {

using op_test::attention_network;
using op_test::layer;
using op_test::make;
using op_test::node_names;
using op_test::view;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const NetworkDefinition& definition, std::int64_t batch = 1) {
  const auto network =
      make_network(definition, batch, DataType::f32, Mode::inference, Fusion::fused);
  return network.ok() ? "no error" : network.error().message();
}

TEST(NetworkInputs, HaveNumbersBelowTheLayers) {
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(network_input_index(network_input_number(i)), i);
  }
  EXPECT_EQ(network_input_index(0), std::nullopt);
}

TEST(NetworkInputs, CodesOfSourcesAreThoseOfThePluginInterface) {
  EXPECT_EQ(source_code(from_node(7, 1)), 7);
  EXPECT_EQ(source_code(from_input(0)), -1);
  EXPECT_EQ(source_code(from_parameter(5)), -2);
  EXPECT_EQ(source_code(from_input(1)), -3);
  EXPECT_EQ(source_code(from_input(2)), -4);
}

TEST(NetworkGraph, TensorsAreInputsParametersOutputs) {
  for (const Fusion fusion : {Fusion::fused, Fusion::separate}) {
    const Network network = make(attention_network(), fusion, DataType::f32, 3);
    std::vector<std::string> names;
    for (const Tensor& tensor : network.tensors) names.push_back(tensor.name);
    EXPECT_THAT(names, ElementsAre("x", "cache", "query.weights", "query.bias", "out.weights",
                                   "norm.scale", "norm.shift", "up.weights", "up.bias",
                                   "down.weights", "down.bias", "down.add", "softmax"));
    EXPECT_EQ(network.input_count(), 2u);
    // The first size of each is multiplied by the batch.
    EXPECT_EQ(network.tensors[0].dims, (Dims{24, 8}));
    EXPECT_EQ(network.tensors[1].dims, (Dims{6, 5, 8}));
    EXPECT_EQ(network.tensors[11].dims, (Dims{24, 8}));
    EXPECT_EQ(network.tensors[12].dims, (Dims{6, 4, 5}));
    // One reader uses all elements of the input `x`, three read the cache.
    EXPECT_EQ(network.tensors[1].touched, 6 * 5 * 8);
  }
}

TEST(NetworkGraph, ViewsAreNoNodes) {
  const Network separate = make(attention_network(), Fusion::separate, DataType::f32, 3);
  EXPECT_EQ(separate.nodes.size(), attention_network().layers.size() - 2);
  EXPECT_EQ(problem_tokens(separate.nodes[1].problem), "b6m4n5k8+tb+two");
  EXPECT_EQ(problem_tokens(separate.nodes[4].problem), "b6m4n8k5+two");
  EXPECT_THAT(separate.nodes[1].sources, ElementsAre(from_node(0), from_input(1)));
  EXPECT_THAT(separate.nodes[4].sources, ElementsAre(from_node(3), from_input(1)));
}

TEST(NetworkGraph, FusionKeepsOutputsAndOperands) {
  const Network network = make(attention_network(), Fusion::fused, DataType::f32, 3);
  EXPECT_THAT(node_names(network),
              ElementsAre("query", "scores", "softmax", "context", "out", "norm", "up", "down"));
  EXPECT_EQ(problem_tokens(network.nodes[1].problem), "b6m4n5k8+tb+two+scale0.5");
  EXPECT_THAT(network.nodes[4].sources,
              ElementsAre(from_node(3), from_parameter(2), from_input(0)));
  EXPECT_THAT(network.outputs, ElementsAre(from_node(7), from_node(2)));
}

// A unary function whose producer is an output stays a layer: the output has a reader outside.
TEST(NetworkGraph, AnOutputIsNotFusedAway) {
  NetworkDefinition definition{
      .name = "two",
      .input = {},
      .layers = {layer("a", "gemm", "n4", {"x"}), layer("relu", "pointwise", "relu", {"a"})},
      .inputs = {{"x", {2, 4}}},
      .outputs = {"a", "relu"}};
  EXPECT_EQ(make(definition, Fusion::fused, DataType::f32).nodes.size(), 2u);
  definition.outputs = {"relu"};
  EXPECT_EQ(make(definition, Fusion::fused, DataType::f32).nodes.size(), 1u);
}

// A batch norm that sees other channels than the convolution has must not be folded into it.
TEST(NetworkGraph, NothingIsFusedThroughAViewWithOtherSizes) {
  const NetworkDefinition definition{
      .name = "view",
      .input = {4, 6, 6},
      .layers = {layer("conv", "conv", "k8r1s1", {"input"}), view("seen", {1, 16, 3, 6}, "conv"),
                 layer("norm", "batch_norm", "", {"seen"})}};
  EXPECT_THAT(node_names(make(definition, Fusion::fused, DataType::f32)),
              ElementsAre("conv", "norm"));
}

TEST(NetworkGraph, TwoInputsMakeAProductOfActivations) {
  const auto product = [](const Dims& a, const Dims& b, std::string_view tokens) {
    return NetworkDefinition{.name = "product",
                             .input = {},
                             .layers = {layer("product", "gemm", tokens, {"a", "b"})},
                             .inputs = {{"a", a}, {"b", b}}};
  };
  const auto tokens_of = [&](const Dims& a, const Dims& b, std::string_view tokens,
                             std::int64_t batch) {
    return problem_tokens(
        make(product(a, b, tokens), Fusion::fused, DataType::f32, batch).nodes[0].problem);
  };
  EXPECT_EQ(tokens_of({4, 5}, {5, 6}, "", 1), "m4n6k5+two");
  EXPECT_EQ(tokens_of({4, 5}, {6, 5}, "+tb", 1), "m4n6k5+tb+two");
  EXPECT_EQ(tokens_of({1, 3, 4, 5}, {3, 5, 6}, "", 2), "b6m4n6k5+two");
  EXPECT_EQ(tokens_of({2, 5, 4}, {2, 6, 5}, "+ta+tb+bias", 1), "b2m4n6k5+ta+tb+bias+two");
  const std::string mismatch = error_of(product({2, 4, 5}, {3, 5, 6}, ""));
  EXPECT_THAT(mismatch, HasSubstr("2x4x5 and 3x5x6 have no product"));
  EXPECT_THAT(mismatch, HasSubstr("`trans_b: true`"));
  EXPECT_THAT(error_of(product({4}, {5, 6}, "")), HasSubstr("the input 4 has one dimension"));
  EXPECT_THAT(error_of(product({4, 5}, {5, 6}, "n7")), HasSubstr("`n` is 7"));
}

TEST(NetworkGraph, SaysWhatIsWrongWithAGraph) {
  const auto network = [] {
    return NetworkDefinition{.name = "wrong",
                             .input = {},
                             .layers = {layer("a", "gemm", "n4", {"x"}), view("seen", {4, 2}, "a"),
                                        layer("b", "gemm", "n4", {"seen"})},
                             .inputs = {{"x", {2, 4}}}};
  };
  EXPECT_EQ(error_of(network()), "no error");
  NetworkDefinition wrong = network();
  wrong.inputs.push_back({"y", {2}});
  EXPECT_THAT(error_of(wrong), HasSubstr("no layer reads the input `y`"));
  wrong.inputs[1].name = "x";
  EXPECT_THAT(error_of(wrong), HasSubstr("two inputs are called `x`"));
  wrong = network();
  wrong.outputs = {"bb"};
  EXPECT_THAT(error_of(wrong), HasSubstr("the output `bb` is not a layer; did you mean `b`?"));
  wrong.outputs = {"b", "seen"};
  EXPECT_THAT(error_of(wrong), HasSubstr("the output `seen` is a view"));
  wrong.outputs = {"b", "b"};
  EXPECT_THAT(error_of(wrong), HasSubstr("listed twice"));
  wrong = network();
  wrong.layers[1].reshape = Dims{3, 2};
  EXPECT_THAT(error_of(wrong), HasSubstr("`reshape` makes 3x2 of 2x4, which has 8 elements"));
  wrong.layers[1].op = "pointwise";
  EXPECT_THAT(error_of(wrong), HasSubstr("has no operator"));
  wrong = network();
  wrong.layers[0].name = "x";
  EXPECT_THAT(error_of(wrong), HasSubstr("a layer cannot be called `x`"));
  wrong = network();
  wrong.inputs[0].sizes = {2, std::int64_t{1} << 62};
  EXPECT_THAT(error_of(wrong, 2), HasSubstr("`x` exceeds 2^63 - 1 elements"));
}

}  // namespace
}  // namespace bench::ops
