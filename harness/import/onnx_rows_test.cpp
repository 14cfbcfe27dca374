// SPDX-License-Identifier: Apache-2.0
// table: one row per operator of ONNX
// What each operator of ONNX becomes. A row of the importer without one here is a failure.
#include "base/characters.hpp"
#include "base/text.hpp"
#include "harness/import/onnx_network.hpp"
#include "harness/import/suite_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench::onnx {
namespace {

using Attributes = std::map<std::string, Attribute, std::less<>>;

Attribute whole(std::int64_t number) {
  Attribute attribute;
  attribute.integer = number;
  return attribute;
}
Attribute decimal(double number) {
  Attribute attribute;
  attribute.real = number;
  return attribute;
}
Attribute choice(std::string text) {
  Attribute attribute;
  attribute.text = std::move(text);
  return attribute;
}
Attribute list(std::vector<std::int64_t> numbers) {
  Attribute attribute;
  attribute.integers = std::move(numbers);
  return attribute;
}

struct OperatorTest {
  std::string_view domain;
  std::string_view op;
  // One word per input: "1x4x8x8" an input, "=8x4" a constant, "=[0,1]" its integers, "=0.5" a
  // number, "ids:3" positions, "u8:1x4" and "=s8:4x3" integers, "-" an omitted one.
  std::string_view inputs;
  Attributes attributes;
  std::size_t outputs;
  std::string_view layers;  // "conv k=8 r=3; pointwise function=relu"
};

// A shape, or the content of a constant.
Value parse_test_value(std::string_view word, const std::string& name) {
  Value value;
  value.origin = word.starts_with('=') ? Value::Origin::constant : Value::Origin::input;
  if (value.is_constant()) word.remove_prefix(1);
  constexpr std::pair<std::string_view, int> kPrefixes[] = {
      {"ids:", kInt64}, {"u8:", kUint8}, {"s8:", kInt8}, {"s32:", kInt32}};
  for (const auto& [prefix, type] : kPrefixes) {
    if (!word.starts_with(prefix)) continue;
    value.type = type;
    word.remove_prefix(prefix.size());
  }
  if (word.starts_with('[')) {
    value.type = kInt64;
    value.content.emplace();
    for (std::string_view rest = word.substr(1, word.size() - 2); !rest.empty();)
      value.content->push_back(parse_number<double>(cut_field(rest, ',')).value());
    value.dims = {std::ssize(*value.content)};
  } else if (word.find('.') != std::string_view::npos) {
    value.content = Content{parse_number<double>(word).value()};
  } else {
    for (std::string_view rest = word; !rest.empty();)
      value.dims.push_back(parse_number<std::int64_t>(cut_field(rest, 'x')).value());
  }
  value.source = name;
  value.source_dims = value.dims;
  return value;
}

std::string format_test_layer(const ops::LayerDefinition& layer) {
  if (layer.reshape) return fmt::format("view {}", fmt::join(*layer.reshape, "x"));
  std::string text = layer.op;
  for (const ops::Parameter& parameter : layer.parameters.table())
    if (layer.parameters.has(parameter.name))
      text += fmt::format(" {}={}", parameter.name,
                          format_suite_value(parameter, layer.parameters.value(parameter.name)));
  return text;
}

std::vector<LoweringRow> all_rows() {
  std::vector<LoweringRow> rows;
  for (const auto each :
       {product_rows(), elementwise_rows(), layout_rows(), fused_rows(), quantised_rows()})
    rows.insert(rows.end(), each.begin(), each.end());
  return rows;
}

// The layers of an operator, or why it cannot be expressed. A bias that is added has its sizes.
std::string lower_for_test(const OperatorTest& test) {
  Node node;
  node.name = "n";
  node.op = test.op;
  node.domain = test.domain;
  node.attributes = test.attributes;
  for (std::size_t i = 0; i < test.outputs; ++i) node.outputs.push_back(fmt::format("y{}", i));
  std::vector<Value> values;
  for (std::string_view rest = test.inputs; !rest.empty();) {
    const std::string_view word = cut_field(rest, ' ');
    node.inputs.push_back(word == "-" ? "" : fmt::format("x{}", values.size()));
    values.push_back(word == "-" ? Value() : parse_test_value(word, node.inputs.back()));
  }
  std::vector<const Value*> inputs;
  for (std::size_t i = 0; i < values.size(); ++i)
    inputs.push_back(node.inputs[i].empty() ? nullptr : &values[i]);
  NetworkBuilder builder;
  builder.begin_node(0, node);
  for (const LoweringRow& row : all_rows()) {
    if (row.op != test.op || row.domain != test.domain) continue;
    constexpr std::int64_t kOpset = 17;
    const auto results = row.lower(NodeView{node, inputs, kOpset}, builder);
    if (!results.ok()) return results.error().what;
    std::vector<std::string> layers;
    for (const BuiltLayer& layer : builder.layers())
      layers.push_back(format_test_layer(layer.definition) +
                       (layer.integers ? " in integers" : ""));
    return layers.empty() ? "no layer" : fmt::format("{}", fmt::join(layers, "; "));
  }
  return "no row";
}

const std::vector<OperatorTest>& operator_tests() {
  constexpr std::string_view kMicrosoft = "com.microsoft";
  static const std::vector<OperatorTest> tests = {
#include "harness/import/onnx_rows_test.inc"
  };
  return tests;
}

TEST(OnnxOperators, EachBecomesItsLayers) {
  for (const OperatorTest& test : operator_tests())
    EXPECT_EQ(lower_for_test(test), test.layers)
        << test.domain << ' ' << test.op << ' ' << test.inputs;
}

TEST(OnnxOperators, EachRowOfTheImporterHasATest) {
  std::set<std::pair<std::string_view, std::string_view>> tested;
  for (const OperatorTest& test : operator_tests()) tested.emplace(test.domain, test.op);
  for (const LoweringRow& row : all_rows())
    EXPECT_TRUE(tested.contains({row.domain, row.op}))
        << row.domain << ' ' << row.op << " has no row in this test";
}

}  // namespace
}  // namespace bench::onnx
