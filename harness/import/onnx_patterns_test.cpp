// SPDX-License-Identifier: Apache-2.0
// The groups of nodes that exporters write for one operator. A pattern without a row here is a
// failure.
#include "harness/import/onnx_patterns.hpp"

#include "base/characters.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::onnx {
namespace {

struct PatternTest {
  std::string_view start;   // the operator at which the importer finds the group
  std::string_view nodes;   // "Erf a > b; Add b one > c"; attributes: "ReduceMean[axes=-1] x > m"
  std::string_view joined;  // what is left; "Gelu x > y (5)" stands for five nodes
};

const std::vector<PatternTest>& pattern_tests() {
  static const std::vector<PatternTest> tests = {
      // GELU in the orders of the exporters.
      {"Erf", "Div x root2 > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y",
       "Gelu x > y (5)"},
      {"Erf", "Mul x half > h; Mul x root_half > a; Erf a > b; Add b one > c; Mul h c > y",
       "Gelu x > y (5)"},
      {"Erf", "Div x root2 > a; Erf a > b; Add one b > c; Mul c half > d; Mul x d > y",
       "Gelu x > y (5)"},
      {"Erf", "Div x three > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y",
       "Div x three > a; Erf a > b; Add b one > c; Mul x c > d; Mul d half > y"},
      {"Tanh",
       "Pow x three > p; Mul p cube > c; Add x c > s; Mul s root_2_pi > t; Tanh t > u; "
       "Add u one > v; Mul x half > h; Mul h v > y",
       "Gelu x > y (8)"},
      {"Tanh",
       "Mul x x > q; Mul q x > p; Mul p cube > c; Add c x > s; Mul s root_2_pi > t; Tanh t > u; "
       "Add u one > v; Mul x v > w; Mul w half > y",
       "Gelu x > y (9)"},
      {"Tanh", "Tanh x > u; Add u one > y", "Tanh x > u; Add u one > y"},
      {"Sigmoid", "Sigmoid x > s; Mul x s > y", "Swish x > y (2)"},
      {"Sigmoid", "Mul x three > a; Sigmoid a > s; Mul x s > y", "Swish x > y (3)"},
      {"Sigmoid", "Sigmoid x > s; Mul z s > y", "Sigmoid x > s; Mul z s > y"},
      {"HardSigmoid", "HardSigmoid[alpha=0.16666667] x > s; Mul x s > y", "HardSwish x > y (2)"},
      {"HardSigmoid", "HardSigmoid x > s; Mul x s > y", "HardSigmoid x > s; Mul x s > y"},
      {"Clip", "Add x three > a; Clip a zero six > c; Mul x c > p; Div p six > y",
       "HardSwish x > y (4)"},
      {"Clip", "Add x three > a; Clip a zero six > c; Div c six > d; Mul x d > y",
       "HardSwish x > y (4)"},
      {"Clip", "Add x two > a; Clip a zero six > c; Mul x c > p; Div p six > y",
       "Add x two > a; Clip a zero six > c; Mul x c > p; Div p six > y"},
      {"Sqrt",
       "ReduceMean[axes=-1] x > m; Sub x m > d; Pow d two > q; ReduceMean[axes=-1] q > v; "
       "Add v epsilon > e; Sqrt e > r; Div d r > n; Mul n vector > g; Add g vector > y",
       "LayerNormalization x vector vector > y (9)"},
      {"Sqrt",
       "Mul x x > q; ReduceMean[axes=-1] q > v; Add v epsilon > e; Sqrt e > r; Reciprocal r > i; "
       "Mul x i > n; Mul n vector > y",
       "RMSNormalization x vector > y (7)"},
      {"Sqrt", "Mul x x > q; ReduceMean[axes=0] q > v; Add v epsilon > e; Sqrt e > r; Div x r > y",
       "Mul x x > q; ReduceMean q > v; Add v epsilon > e; Sqrt e > r; Div x r > y"},
      {"MatMul", "MatMul x matrix > a; Add a vector > y", "MatMul x matrix vector > y (2)"},
      {"MatMul", "MatMul x matrix > a; Add a x > y", "MatMul x matrix > a; Add a x > y"},
      {"Conv", "Conv image kernel > a; Add a channels > y", "Conv image kernel channels > y (2)"},
      {"Conv", "Conv image kernel > a; Add a vector > y",
       "Conv image kernel > a; Add a vector > y"},
      {"Pad", "Pad[pads=0,0,1,1,0,0,1,1] image > p; Conv p kernel > y",
       "Conv image kernel > y (2)"},
      {"Pad", "Pad[pads=0,1,0,0,0,1,0,0] image > p; Conv p kernel > y",
       "Pad image > p; Conv p kernel > y"},
      {"IsNaN", "Softmax x > s; IsNaN s > n; Where n zero s > y", "Softmax x > y (3)"},
      {"IsNaN", "Softmax x > s; IsNaN s > n; Where n one s > y",
       "Softmax x > s; IsNaN s > n; Where n one s > y"},
      {"Transpose", "Transpose[perm=1,0] x > t; MatMul z t > y", "MatMul z x > y (2)"},
      {"Transpose", "Transpose[perm=1,0,2] x > t; MatMul z t > y",
       "Transpose x > t; MatMul z t > y"},
  };
  return tests;
}

Attribute parse_test_attribute(std::string_view text) {
  Attribute attribute;
  if (const auto real = parse_number<double>(text)) attribute.real = *real;
  while (!text.empty())
    attribute.integers.push_back(parse_number<std::int64_t>(cut_field(text, ',')).value_or(0));
  return attribute;
}

Node parse_test_node(std::string_view text) {
  Node node;
  std::string_view head = cut_field(text, ' ');
  node.op = cut_field(head, '[');
  if (!head.empty()) {
    head.remove_suffix(1);
    const std::string name(cut_field(head, '='));
    node.attributes.emplace(name, parse_test_attribute(head));
  }
  for (std::string_view word = cut_field(text, ' '); word != ">"; word = cut_field(text, ' '))
    node.inputs.emplace_back(word);
  node.outputs = {std::string(text)};
  return node;
}

Model make_test_model(std::string_view nodes) {
  Model model;
  const std::pair<std::string, double> numbers[] = {{"zero", 0},          {"half", 0.5},
                                                    {"one", 1},           {"two", 2},
                                                    {"three", 3},         {"six", 6},
                                                    {"root2", 1.4142135}, {"root_half", 0.70710678},
                                                    {"cube", 0.044715},   {"root_2_pi", 0.7978846},
                                                    {"epsilon", 1e-5}};
  for (const auto& [name, number] : numbers)
    model.tensors.push_back({.name = name, .type = kFloat, .dims = {}, .content = Content{number}});
  const std::pair<std::string, ops::Dims> constants[] = {
      {"vector", {8}}, {"matrix", {8, 8}}, {"kernel", {4, 4, 3, 3}}, {"channels", {4, 1, 1}}};
  for (const auto& [name, dims] : constants)
    model.tensors.push_back({.name = name, .type = kFloat, .dims = dims});
  while (!nodes.empty()) {
    std::string_view node = cut_field(nodes, ';');
    if (node.starts_with(' ')) node.remove_prefix(1);
    model.nodes.push_back(parse_test_node(node));
  }
  model.outputs.push_back({.name = "y", .type = kFloat, .dims = std::nullopt});
  return model;
}

std::string format_test_nodes(const Model& model) {
  std::vector<std::string> lines;
  for (const Node& node : model.nodes) {
    lines.push_back(fmt::format("{} {} > {}", node.op, fmt::join(node.inputs, " "),
                                fmt::join(node.outputs, " ")));
    if (node.covered != 1) lines.back() += fmt::format(" ({})", node.covered);
  }
  return fmt::format("{}", fmt::join(lines, "; "));
}

TEST(OnnxPatterns, AGroupBecomesOneNodeAndWhatResemblesItStays) {
  for (const PatternTest& test : pattern_tests()) {
    Model model = make_test_model(test.nodes);
    join_patterns(model);
    EXPECT_EQ(format_test_nodes(model), test.joined);
  }
}

TEST(OnnxPatterns, EachPatternOfTheImporterHasATestThatJoinsAndOneThatDoesNot) {
  std::map<std::string_view, std::set<bool>> outcomes;
  for (const PatternTest& test : pattern_tests()) {
    Model model = make_test_model(test.nodes);
    const std::size_t nodes = model.nodes.size();
    join_patterns(model);
    outcomes[test.start].insert(model.nodes.size() < nodes);
  }
  for (const std::string_view start : pattern_starts())
    EXPECT_EQ(outcomes[start].size(), 2U) << start;
}

}  // namespace
}  // namespace bench::onnx
