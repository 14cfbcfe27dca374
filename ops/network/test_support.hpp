// SPDX-License-Identifier: Apache-2.0
// For tests of networks: layers from the text of case ids, and execution by the references.
#pragma once

#include "ops/network/network.hpp"
#include "ops/operator.hpp"
#include "ops/post_op.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::ops::op_test {

// A layer as written in a case id: layer("fc", "gemm", "n10+bias", {"pool"}).
inline LayerDefinition layer(std::string name, std::string_view op, std::string_view tokens,
                             std::vector<std::string> inputs) {
  Result<ParsedTokens> parsed = parse_tokens(find_operator(op)->parameters, tokens);
  if (!parsed.ok()) ADD_FAILURE() << tokens << ": " << parsed.error().message();
  return {.name = std::move(name),
          .op = std::string(op),
          .parameters = std::move(parsed).value().parameters,
          .inputs = std::move(inputs)};
}

inline Network make(const NetworkDefinition& definition, Fusion fusion, DataType dtype,
                    std::int64_t batch = 1) {
  Result<Network> network = make_network(definition, batch, dtype, Mode::inference, fusion);
  if (!network.ok()) ADD_FAILURE() << network.error().message();
  return std::move(network).value();
}

// A layer without written parameters: layer("norm", "layer_norm", {"fc"}).
inline LayerDefinition layer(std::string name, std::string_view op,
                             std::vector<std::string> inputs) {
  return {.name = std::move(name),
          .op = std::string(op),
          .parameters = ParameterSet(find_operator(op)->parameters),
          .inputs = std::move(inputs)};
}

inline LayerDefinition view(std::string name, Dims sizes, std::string input) {
  LayerDefinition layer;
  layer.name = std::move(name);
  layer.inputs = {std::move(input)};
  layer.reshape = std::move(sizes);
  return layer;
}

// One block of a transformer on a cache of keys and values: two heads of 4 rows, two inputs, two
// outputs, residuals, products of two activations. Views give the same matrices other sizes.
inline NetworkDefinition attention_network() {
  return {
      .name = "attention",
      .input = {},
      .layers = {layer("query", "gemm", "n8+bias", {"x"}), view("query.heads", {2, 4, 8}, "query"),
                 layer("scores", "gemm", "+tb", {"query.heads", "cache"}),
                 layer("scale", "pointwise", "scale-alpha0.5", {"scores"}),
                 layer("softmax", "softmax", {"scale"}),
                 layer("context", "gemm", "", {"softmax", "cache"}),
                 view("context.rows", {8, 8}, "context"),
                 layer("out", "gemm", "n8", {"context.rows"}),
                 layer("add", "pointwise", "add", {"out", "x"}),
                 layer("norm", "layer_norm", {"add"}), layer("up", "gemm", "n12+bias", {"norm"}),
                 layer("gelu", "pointwise", "gelu_tanh", {"up"}),
                 layer("down", "gemm", "n8+bias", {"gelu"}),
                 layer("down.add", "pointwise", "add", {"down", "norm"})},
      .inputs = {{"x", {8, 8}}, {"cache", {2, 5, 8}}},
      .outputs = {"down.add", "softmax"}};
}

// A layer that permutes the axes of its input.
inline LayerDefinition permuted(std::string name, Dims axes, std::string input) {
  LayerDefinition reorder = layer(std::move(name), "reorder", {std::move(input)});
  reorder.parameters.set("permutation", std::move(axes));
  return reorder;
}

// A block of a language model on 6 tokens: causal attention of two heads that share keys and
// values, with what surrounds it in BERT, GPT-2 and Llama. The keys are an output as well, as for a
// cache; the loss names the other one.
inline NetworkDefinition transformer_network() {
  return {.name = "transformer",
          .input = {},
          .layers = {layer("embedded", "gemm", "n8+bias", {"x"}),
                     layer("norm", "rms_norm", {"embedded"}),
                     layer("query", "gemm", "n8+bias", {"norm"}),
                     layer("key", "gemm", "n4", {"norm"}),
                     layer("value", "gemm", "n4", {"norm"}),
                     view("query.rows", {1, 6, 2, 4}, "query"),
                     permuted("query.heads", {0, 2, 1, 3}, "query.rows"),
                     layer("query.rotated", "rope", {"query.heads"}),
                     view("key.rows", {1, 6, 1, 4}, "key"),
                     permuted("key.heads", {0, 2, 1, 3}, "key.rows"),
                     layer("key.rotated", "rope", {"key.heads"}),
                     view("value.rows", {1, 6, 1, 4}, "value"),
                     permuted("value.heads", {0, 2, 1, 3}, "value.rows"),
                     layer("context", "attention", "+causal",
                           {"query.rotated", "key.rotated", "value.heads"}),
                     permuted("context.rows", {0, 2, 1, 3}, "context"),
                     view("context.matrix", {6, 8}, "context.rows"),
                     layer("out", "gemm", "n8", {"context.matrix"}),
                     layer("out.add", "pointwise", "add", {"out", "embedded"}),
                     layer("out.norm", "layer_norm", {"out.add"}),
                     layer("gate", "gemm", "n12", {"out.norm"}),
                     layer("up", "gemm", "n12", {"out.norm"}),
                     layer("gated", "swiglu", {"gate", "up"}),
                     layer("gelu", "pointwise", "gelu_tanh", {"gated"}),
                     layer("down", "gemm", "n8", {"gelu"}),
                     layer("down.add", "pointwise", "add", {"down", "out.add"})},
          .inputs = {{"x", {6, 5}}},
          .outputs = {"key.rotated", "down.add"},
          .training = {layer("loss", "loss", {"down.add"})}};
}

// A layer that takes rows of a matrix. Its sizes follow from its inputs, so it has no tokens.
inline LayerDefinition take_rows(std::string name, std::vector<std::string> inputs) {
  LayerDefinition rows = layer(std::move(name), "gather", std::move(inputs));
  rows.parameters.set("axis", std::int64_t{0});
  return rows;
}

// A mixture of experts on four tokens, each with two of three experts: rows of tokens sorted by
// expert, two products of each group, the rows in the order of the tokens, and their sum weighted
// by scores that a router computed.
inline NetworkDefinition mixture_network() {
  LayerDefinition sum = layer("combined", "reduction", {"weighted"});
  sum.parameters.set("function", std::string("sum"));
  sum.parameters.set("axis", Dims{1});
  return {
      .name = "experts",
      .input = {},
      .layers = {layer("up", "gemm", "n32", {"x"}), layer("router", "gemm", "n16", {"up"}),
                 view("scores", {64}, "router"), take_rows("chosen.scores", {"scores", "chosen"}),
                 view("chosen.rows", {4, 2}, "chosen.scores"),
                 layer("softmax", "softmax", {"chosen.rows"}),
                 view("factors", {4, 2, 1}, "softmax"), take_rows("rows", {"up", "tokens"}),
                 layer("first", "grouped_gemm", "1x2x1-n64+tb", {"rows"}),
                 layer("tanh", "pointwise", "tanh", {"first"}),
                 layer("second", "grouped_gemm", "1x2x1-n32+bias", {"tanh"}),
                 take_rows("sorted", {"second", "places"}),
                 view("sorted.tokens", {4, 2, 32}, "sorted"),
                 layer("weighted", "pointwise", "mul", {"sorted.tokens", "factors"}),
                 std::move(sum)},
      .inputs = {{"x", {4, 32}}, {"chosen", {8}}, {"tokens", {8}}, {"places", {8}}}};
}

inline std::vector<std::string> node_names(const Network& network) {
  std::vector<std::string> names;
  for (const Node& node : network.nodes) names.push_back(node.name);
  return names;
}

// Returns the network's outputs in double precision: every node's reference on its producers'
// results.
inline std::vector<std::vector<double>> run_reference(
    const Network& network, const std::vector<std::vector<double>>& parameters,
    const std::vector<std::vector<double>>& network_inputs) {
  std::vector<std::vector<std::vector<double>>> results;  // by node and output
  EXPECT_EQ(parameters.size(), network.parameter_places.size());
  const auto value_of = [&](const Source& source) -> const std::vector<double>& {
    if (source.kind == Source::Kind::parameter) return parameters[source.index];
    return source.kind == Source::Kind::input ? network_inputs[source.index]
                                              : results[source.index][source.output];
  };
  for (const Node& node : network.nodes) {
    std::vector<std::vector<double>> inputs;
    for (const Source& source : node.sources) inputs.push_back(value_of(source));
    results.emplace_back();
    const std::size_t outputs = node.problem.output_count();
    for (std::size_t i = 0; i < outputs; ++i) {
      results.back().push_back(built_in_reference(node.problem, inputs, i, {}));
    }
  }
  std::vector<std::vector<double>> outputs;
  for (const Source& output : network.outputs) outputs.push_back(value_of(output));
  return outputs;
}

// The same for a network with one input and one output.
inline std::vector<double> run_reference(const Network& network,
                                         const std::vector<std::vector<double>>& parameters,
                                         const std::vector<double>& input) {
  return run_reference(network, parameters, std::vector<std::vector<double>>{input}).front();
}

}  // namespace bench::ops::op_test
