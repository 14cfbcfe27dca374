// SPDX-License-Identifier: Apache-2.0
#include "ops/network/statistics.hpp"

#include "ops/network/test_support.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using op_test::layer;
using op_test::view;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

// A layer without `shape` and `sizes`, which follow from its inputs.
LayerDefinition concat(std::string name, std::int64_t axis, std::vector<std::string> inputs) {
  LayerDefinition result = layer(std::move(name), "concat", std::move(inputs));
  result.parameters.set("axis", axis);
  return result;
}

LayerDefinition split_layer() {
  LayerDefinition result = layer("halves", "split", {"input"});
  result.parameters.set("axis", std::int64_t{1});
  result.parameters.set("sizes", Dims{2, 2});
  return result;
}

std::map<std::string, LayerStatistics> statistics_by_name(const NetworkDefinition& definition) {
  const Network network = op_test::make(definition, Fusion::separate, DataType::f32);
  const std::vector<LayerStatistics> layers = layer_statistics(network);
  std::map<std::string, LayerStatistics> result;
  for (std::size_t i = 0; i < layers.size(); ++i) result[network.nodes[i].name] = layers[i];
  return result;
}

// The stem of ResNet: 7, then (3 - 1)*2 more, then (3 - 1)*4 more; the whole image of 8 x 10 values
// that are 4 apart.
TEST(LayerStatistics, ReceptiveFieldsGrowByTheStridesBeforeThem) {
  const auto layers =
      statistics_by_name({.name = "stem",
                          .input = {3, 32, 40},
                          .layers = {layer("conv1", "conv", "k4r7s5u2p3x2", {"input"}),
                                     layer("relu", "pointwise", "relu", {"conv1"}),
                                     layer("pool", "pool", "max-r3u2p1", {"relu"}),
                                     layer("conv2", "conv", "k4r3p1", {"pool"}),
                                     layer("add", "pointwise", "add", {"conv2", "pool"}),
                                     layer("all", "pool", "avg_exclude_pad+global", {"add"}),
                                     layer("fc", "gemm", "n10+bias", {"all"})}});
  EXPECT_THAT(layers.at("conv1").receptive_field, Optional(ElementsAre(7, 5)));
  EXPECT_THAT(layers.at("relu").receptive_field, Optional(ElementsAre(7, 5)));
  EXPECT_THAT(layers.at("pool").receptive_field, Optional(ElementsAre(11, 9)));
  EXPECT_THAT(layers.at("conv2").receptive_field, Optional(ElementsAre(19, 17)));
  EXPECT_THAT(layers.at("add").receptive_field, Optional(ElementsAre(19, 17)));
  EXPECT_THAT(layers.at("all").receptive_field, Optional(ElementsAre(19 + 7 * 4, 17 + 9 * 4)));
  EXPECT_THAT(layers.at("fc").receptive_field, Optional(ElementsAre(47, 53)));
  EXPECT_EQ(layers.at("conv1").parameters, 4 * 3 * 7 * 5);
  EXPECT_EQ(layers.at("conv1").activations, 4 * 16 * 20);
  EXPECT_EQ(layers.at("fc").parameters, 4 * 10 + 10);
  EXPECT_EQ(layers.at("pool").parameters, 0);
}

// The way down and up of a U-Net, joined by channels. A transposed convolution of 2 x 2 with stride
// 2 reads one position; of 3 x 3, two.
TEST(LayerStatistics, TransposedConvolutionsHalveTheDistance) {
  const auto layers = statistics_by_name(
      {.name = "unet",
       .input = {2, 16, 16},
       .layers = {layer("in", "conv", "k4r3p1", {"input"}), layer("down", "pool", "max-r2", {"in"}),
                  layer("up", "conv", "k4r2u2+transposed", {"down"}),
                  layer("up3", "conv", "k4r3u2p1o1+transposed", {"down"}),
                  concat("joined", 1, {"in", "up", "up3"}),
                  layer("out", "conv", "k4r3p1", {"joined"})}});
  EXPECT_THAT(layers.at("in").receptive_field, Optional(ElementsAre(3, 3)));
  EXPECT_THAT(layers.at("down").receptive_field, Optional(ElementsAre(4, 4)));
  EXPECT_THAT(layers.at("up").receptive_field, Optional(ElementsAre(4, 4)));
  EXPECT_THAT(layers.at("up3").receptive_field, Optional(ElementsAre(6, 6)));
  EXPECT_THAT(layers.at("joined").receptive_field, Optional(ElementsAre(6, 6)));
  EXPECT_THAT(layers.at("out").receptive_field, Optional(ElementsAre(8, 8)));
}

// Squeeze and excitation: each value depends on the whole image, and neighbours stay 2 apart.
TEST(LayerStatistics, AFactorPerChannelDependsOnTheWholeImage) {
  const auto layers =
      statistics_by_name({.name = "se",
                          .input = {2, 16, 16},
                          .layers = {layer("in", "conv", "k4r3u2p1", {"input"}),
                                     layer("all", "pool", "avg_exclude_pad+global", {"in"}),
                                     layer("factor", "pointwise", "hardsigmoid", {"all"}),
                                     layer("mul", "pointwise", "mul", {"in", "factor"}),
                                     layer("out", "conv", "k4r3p1", {"mul"})}});
  EXPECT_THAT(layers.at("mul").receptive_field, Optional(ElementsAre(17, 17)));
  EXPECT_THAT(layers.at("out").receptive_field, Optional(ElementsAre(21, 21)));
}

TEST(LayerStatistics, OtherNetworksHaveNoReceptiveField) {
  for (const auto& [name, statistics] : statistics_by_name(op_test::attention_network())) {
    EXPECT_EQ(statistics.receptive_field, std::nullopt) << name;
  }
  const auto layers =
      statistics_by_name({.name = "tokens",
                          .input = {4, 8, 8},
                          .layers = {layer("patches", "conv", "k6r2u2", {"input"}),
                                     view("rows", {1, 6, 16}, "patches"),
                                     layer("relu", "pointwise", "relu", {"rows"})}});
  EXPECT_NE(layers.at("patches").receptive_field, std::nullopt);
  EXPECT_EQ(layers.at("relu").receptive_field, std::nullopt);
}

TEST(LayerStatistics, EqualLayersAreCountedAndStatisticsAreNotLearned) {
  const auto layers =
      statistics_by_name({.name = "chain",
                          .input = {4, 8, 8},
                          .layers = {layer("a", "conv", "k4r3p1", {"input"}),
                                     {.name = "bn", .op = "batch_norm", .inputs = {"a"}},
                                     layer("b", "conv", "k4r3p1", {"bn"}),
                                     layer("c", "conv", "k5r3p1", {"b"})}});
  EXPECT_EQ(layers.at("a").equal_layers, 2u);
  EXPECT_EQ(layers.at("b").equal_layers, 2u);
  EXPECT_EQ(layers.at("c").equal_layers, 1u);
  EXPECT_EQ(layers.at("bn").parameters, 2 * 4);
}

TEST(ProblemStatistics, OnlyWindowsHaveAFieldOfTheirOwn) {
  const auto field = [](std::string_view op, std::string_view tokens) {
    return problem_statistics(op_test::problem(op, tokens)).receptive_field;
  };
  EXPECT_THAT(field("conv", "c4h9k8r3e2"), Optional(ElementsAre(5, 5)));
  EXPECT_THAT(field("pool", "max-c4d8h9r2"), Optional(ElementsAre(2, 2, 2)));
  EXPECT_THAT(field("pool", "avg_exclude_pad-c4h9w7+global"), Optional(ElementsAre(9, 7)));
  EXPECT_EQ(field("gemm", "m8n8k8"), std::nullopt);
  EXPECT_EQ(field("pointwise", "relu-1x4x9x9"), std::nullopt);
  EXPECT_EQ(problem_statistics(op_test::problem("gemm", "m8n6k4+bias")).parameters, 4 * 6 + 6);
  EXPECT_EQ(problem_statistics(op_test::problem("gemm", "m8n6k4+two")).parameters, 0);
}

Result<Network> try_layers(std::vector<LayerDefinition> layers) {
  return make_network({.name = "net", .input = {4, 5, 6}, .layers = std::move(layers)}, 2,
                      DataType::f32, Mode::inference, Fusion::separate);
}

// Any number of inputs, whose sizes along the axis add up.
TEST(LayersOfConcat, SizesFollowFromTheInputs) {
  const auto network =
      try_layers({layer("a", "conv", "k3r1", {"input"}), layer("b", "conv", "k2r1", {"input"}),
                  concat("joined", 1, {"a", "input", "b", "a"}),
                  layer("rows", "concat", {"joined", "joined"})});
  ASSERT_TRUE(network.ok()) << network.error().message();
  EXPECT_EQ(problem_tokens(network->nodes[2].problem), "2x12x5x6-a1s3x4x2x3");
  EXPECT_EQ(problem_tokens(network->nodes[3].problem), "2x12x5x12-s6x6");
}

TEST(LayersOfConcat, WhatDoesNotFitIsNamed) {
  const auto fault = [](std::vector<LayerDefinition> layers) {
    return try_layers(std::move(layers)).error();
  };
  const auto other =
      fault({layer("a", "conv", "k4r3", {"input"}), concat("joined", 1, {"input", "a"})});
  EXPECT_EQ(other.where, "joined.inputs");
  EXPECT_THAT(other.what, HasSubstr("2x4x5x6 and 2x4x3x4 differ beyond axis 1"));
  const auto axis = fault({concat("joined", 4, {"input", "input"})});
  EXPECT_EQ(axis.where, "joined.axis");
  const auto sizes = fault({layer("joined", "concat", "9x9-a1s4x5", {"input", "input"})});
  EXPECT_EQ(sizes.where, "joined.shape");
}

// Nothing else checks that the rows of all groups are those of the input.
TEST(Network, ParametersThatContradictAnInputAreRefused) {
  const auto experts = [](std::string_view groups) {
    return make_network(
        {.name = "experts",
         .input = {},
         .layers = {layer("up", "grouped_gemm", std::string(groups) + "-n8", {"x"})},
         .inputs = {{"x", {6, 4}}}},
        1, DataType::f32, Mode::inference, Fusion::separate);
  };
  EXPECT_TRUE(experts("4x2").ok());
  const auto refused = experts("4x3");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "up.inputs");
  EXPECT_EQ(refused.error().what,
            "its input `source` has the sizes 6x4, its parameters make it 7x4");
}

// The rows of a batch are shared out among the groups in the ratio that the network file has.
TEST(Network, GroupsGrowWithTheBatch) {
  const NetworkDefinition experts{.name = "experts",
                                  .input = {},
                                  .layers = {layer("up", "grouped_gemm", "1x2-n8", {"x"})},
                                  .inputs = {{"x", {3, 4}}}};
  const Network network = op_test::make(experts, Fusion::separate, DataType::f32, 5);
  EXPECT_EQ(problem_tokens(network.nodes[0].problem), "5x10-n8k4");
  EXPECT_EQ(network.work.macs, 15 * 8 * 4);
  NetworkDefinition images = experts;
  images.inputs = {{"x", {3, 4, 5}}};
  const auto refused = make_network(images, 1, DataType::f32, Mode::inference, Fusion::separate);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "up.inputs");
  EXPECT_THAT(refused.error().what, HasSubstr("3x4x5 has 3 dimensions"));
}

TEST(Network, ALayerOfSeveralResultsIsRefused) {
  const auto refused = try_layers({split_layer()});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().where, "halves.op");
  EXPECT_EQ(refused.error().what, "`split` has 2 results, a layer passes on one");
  EXPECT_THAT(refused.error().next, HasSubstr("`slice`"));
}

}  // namespace
}  // namespace bench::ops
