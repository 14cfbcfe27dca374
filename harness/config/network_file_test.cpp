// SPDX-License-Identifier: Apache-2.0
#include "harness/config/network_file.hpp"

#include "harness/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(NetworkFile, ReadsLayersAndFillsInTheLayerBefore) {
  const auto network = parse_network(
      "version: 1\nnetwork: tiny\ninput: {c: 3, h: 8}\nlayers:\n"
      "  - {name: a.1, op: conv, k: 4, r: 3, pad: 1}\n"
      "  - {name: b, op: pointwise, function: relu}\n"
      "  - {name: c, op: pointwise, function: add, inputs: [b, a.1]}\n",
      "tiny.yaml");
  ASSERT_TRUE(network.ok()) << network.error().front().message();
  EXPECT_EQ(network->name, "tiny");
  EXPECT_EQ(network->input, (ops::Dims{3, 8, 8}));
  ASSERT_EQ(network->layers.size(), 3u);
  EXPECT_EQ(network->layers[0].inputs, std::vector<std::string>{"input"});
  EXPECT_EQ(network->layers[0].parameters.count("k"), 4);
  EXPECT_FALSE(network->layers[0].parameters.has("c"));
  EXPECT_EQ(network->layers[1].inputs, std::vector<std::string>{"a.1"});
  EXPECT_EQ(network->layers[2].inputs, (std::vector<std::string>{"b", "a.1"}));
}

TEST(NetworkFile, FindsPlacesOfLayersWhoseNamesContainDots) {
  Diagnostics diagnostics;
  const auto file = read_network(diagnostics, "tiny.yaml",
                                 "version: 1\nnetwork: tiny\ninput: {c: 3}\nlayers:\n"
                                 "  - name: a\n    op: conv\n    k: 3\n"
                                 "  - name: a.k\n    op: conv\n    k: 4\n");
  ASSERT_TRUE(file.has_value());
  const auto line = [&](std::string_view where) {
    return file->find_location(where).position.line;
  };
  EXPECT_EQ(line("a"), 5);
  EXPECT_EQ(line("a.k"), 8);
  EXPECT_EQ(line("a.k.k"), 10);
  EXPECT_EQ(line("a.r"), 5);
  EXPECT_EQ(line("unknown"), 1);
  EXPECT_EQ(line(""), 1);
}

std::vector<std::string> layer_texts(const ops::NetworkDefinition& network) {
  std::vector<std::string> texts;
  for (const ops::LayerDefinition& layer : network.layers) {
    std::string text = layer.name + ":";
    for (const std::string& input : layer.inputs) text += " " + input;
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(NetworkFile, RepeatsABlockWithItsOutputAsTheNextInput) {
  const auto network = parse_network(
      "version: 1\nnetwork: deep\ninputs: {x: [4, 8], y: [4, 8]}\nlayers:\n"
      "  - {name: first, op: gemm, n: 8}\n"
      "  - name: block\n    repeat: 2\n    layers:\n"
      "      - {name: a, op: gemm, n: 8}\n"
      "      - {name: inner, repeat: 2, layers: [{name: b, op: gemm, n: 8}]}\n"
      "      - {name: add, op: pointwise, function: add, inputs: [inner, block]}\n"
      "      - {name: add.y, op: pointwise, function: add, inputs: [add, y]}\n"
      "  - {name: seen, reshape: [2, 16], inputs: [block]}\n"
      "  - {name: last, op: gemm, n: 8}\n"
      "outputs: [last, block]\n",
      "deep.yaml");
  ASSERT_TRUE(network.ok()) << network.error().front().message();
  EXPECT_THAT(
      layer_texts(*network),
      ElementsAre("first: x", "block.0.a: first", "block.0.inner.0.b: block.0.a",
                  "block.0.inner.1.b: block.0.inner.0.b", "block.0.add: block.0.inner.1.b first",
                  "block.0.add.y: block.0.add y", "block.1.a: block.0.add.y",
                  "block.1.inner.0.b: block.1.a", "block.1.inner.1.b: block.1.inner.0.b",
                  "block.1.add: block.1.inner.1.b block.0.add.y", "block.1.add.y: block.1.add y",
                  "seen: block.1.add.y", "last: seen"));
  EXPECT_THAT(network->outputs, ElementsAre("last", "block.1.add.y"));
  ASSERT_EQ(network->inputs.size(), 2u);
  EXPECT_EQ(network->inputs[1].name, "y");
  EXPECT_EQ(network->inputs[1].sizes, (ops::Dims{4, 8}));
  EXPECT_EQ(network->layers[11].reshape, (ops::Dims{2, 16}));
  EXPECT_EQ(network->layers[11].op, "");
  EXPECT_EQ(network->layers[6].parameters.count("n"), 8);
}

TEST(NetworkFile, ABlockReadsWhatItsInputsName) {
  const auto network = parse_network(
      "version: 1\nnetwork: deep\ninput: {c: 8}\nlayers:\n"
      "  - {name: a, op: gemm, n: 8}\n"
      "  - {name: b, op: gemm, n: 8}\n"
      "  - {name: block, repeat: 2, inputs: [a], layers: [{name: c, op: gemm, n: 8}]}\n"
      "  - {name: add, op: pointwise, function: add, inputs: [block, b]}\n",
      "deep.yaml");
  ASSERT_TRUE(network.ok()) << network.error().front().message();
  EXPECT_THAT(layer_texts(*network), ElementsAre("a: input", "b: a", "block.0.c: a",
                                                 "block.1.c: block.0.c", "add: block.1.c b"));
}

std::string errors_in_layers(const std::string& layers, const std::string& head = "input: {c: 8}") {
  const auto network =
      parse_network("version: 1\nnetwork: x\n" + head + "\nlayers:\n" + layers, "x.yaml");
  std::string text;
  if (network.ok()) return "no error";
  for (const Diagnostic& error : network.error()) text += error.message() + "\n";
  return text;
}

TEST(NetworkFile, SaysWhatIsWrongWithABlockOrAView) {
  EXPECT_EQ(errors_in_layers("  - {name: b, repeat: 3, layers: [{name: a, op: gemm, m: x}]}\n"),
            "x.yaml:5:58: `m`: found `x`, expected an integer >= 1\n");
  // One message although the layer is repeated.
  EXPECT_EQ(
      errors_in_layers("  - {name: b, repeat: 3, layers: [{name: a, op: gemm, inputs: [c]}]}\n"),
      "x.yaml:5:64: layer `b.0.a` has an unknown input `c`; expected a layer's name or "
      "`input`\n");
  EXPECT_THAT(errors_in_layers("  - {name: b, layers: [{name: a, op: gemm}]}\n"),
              HasSubstr("a block lacks its `repeat`"));
  EXPECT_THAT(errors_in_layers("  - {name: b, repeat: 2}\n"),
              HasSubstr("a block lacks its `layers`"));
  EXPECT_THAT(errors_in_layers("  - {name: b, repeat: 0, layers: [{name: a, op: gemm}]}\n"),
              HasSubstr("`repeat`: found `0`"));
  EXPECT_THAT(
      errors_in_layers("  - {name: b, repeat: 2, op: gemm, layers: [{name: a, op: gemm}]}\n"),
      HasSubstr("unknown key `op` of a block"));
  EXPECT_THAT(errors_in_layers(
                  "  - {name: b, repeat: 2, layers: [{name: a, op: gemm}, {name: a, op: gemm}]}\n"),
              HasSubstr("duplicate layer `a`, first at line 5"));
  EXPECT_THAT(
      errors_in_layers(
          "  - {name: b, repeat: 2, inputs: [input, input], layers: [{name: a, op: gemm}]}\n"),
      HasSubstr("a block has one input"));
  EXPECT_THAT(
      errors_in_layers("  - {name: a, repeat: 1000, layers: [{name: b, repeat: 1000, layers: "
                       "[{name: c, op: gemm}]}]}\n"),
      HasSubstr("x.yaml:5:23: the network has more than 100000 layers"));
  EXPECT_THAT(errors_in_layers("  - {name: v, reshape: [2], op: gemm}\n"),
              HasSubstr("unknown key `op` of a view"));
  EXPECT_THAT(errors_in_layers("  - {name: a, op: gemm}\noutputs: [b]\n"),
              HasSubstr("unknown output `b`"));
  EXPECT_THAT(errors_in_layers("  - {name: a, op: gemm}\n", "inputs: {x: [2]}\ninput: {c: 8}"),
              HasSubstr("a network has `input` or `inputs`, not both"));
  EXPECT_THAT(errors_in_layers("  - {name: a, op: gemm}\n", ""),
              HasSubstr("the key `input` is missing"));
}

TEST(NetworkFile, TheLossNamesTheOutputThatItReads) {
  const std::string layers =
      "  - {name: b, repeat: 2, layers: [{name: a, op: gemm, n: 4}]}\n"
      "  - {name: c, op: gemm, n: 3}\n";
  const std::string head =
      "version: 1\nnetwork: x\ninput: {c: 8}\nlayers:\n" + layers + "outputs: [b, c]\n";
  const auto network = parse_network(head + "loss: {inputs: [b]}\n", "x.yaml");
  ASSERT_TRUE(network.ok()) << network.error().front().message();
  ASSERT_EQ(network->training.size(), 1u);
  EXPECT_EQ(network->training[0].op, "loss");
  EXPECT_THAT(network->training[0].inputs, ElementsAre("b.1.a"));
  EXPECT_THAT(
      errors_in_layers(layers + "outputs: [b, c]\nloss: {inputs: [b.0.a]}\n"),
      HasSubstr("x.yaml:8:8: the loss reads `b.0.a`, which is not an output of the network; "));
  EXPECT_THAT(
      errors_in_layers(layers + "outputs: [b, c]\nloss: {inputs: [b, c]}\n"),
      HasSubstr("x.yaml:8:8: a loss has 2 inputs, expected 1; name one of the network's outputs"));
  EXPECT_THAT(errors_in_layers(layers + "optimizer: {inputs: [c]}\n"),
              HasSubstr("unknown key `inputs` of an optimizer"));
}

TEST(NetworkFile, ASyntaxErrorIsTheOnlyDiagnostic) {
  const auto network = parse_network("version: 1\nlayers: [\n", "x.yaml");
  ASSERT_FALSE(network.ok());
  ASSERT_EQ(network.error().size(), 1u);
  EXPECT_EQ(network.error()[0].message(),
            "x.yaml:2:9: the `[` here is not closed; add `]`, or the comma that is missing between "
            "two entries");
}

TEST(NetworkFile, IsAConfigurationOfItsOwnCases) {
  const std::string network =
      "version: 1\nnetwork: tiny\ninput: {c: 4, h: 8}\nlayers:\n"
      "  - {name: a, op: conv, k: 4, r: 3, pad: 1}\n";
  LoadRequest request;
  request.read = [&](const std::string& path) -> Result<std::string> {
    if (path == "nets/tiny.yaml" || path == "nets/other.yaml") return network;
    return Error{"no such file", path, ""};
  };
  request.arguments = {"nets/tiny.yaml"};
  request.overrides = {"batch=2"};
  const auto plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().front().message();
  ASSERT_EQ(plan->cases.size(), 2U);
  EXPECT_EQ(plan->cases[1].id, "network/forward/tiny-n2/f32/onednn/cpu/hot");
  EXPECT_EQ(plan->name, "tiny");
  request.arguments = {"nets/other.yaml"};
  EXPECT_EQ(load_plan(request).error().front().message(),
            "nets/other.yaml:1:1: the file contains a network named `tiny`; write `network: other` "
            "or rename the file");
}

}  // namespace
}  // namespace bench
