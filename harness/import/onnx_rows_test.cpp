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
      {"",
       "Conv",
       "1x4x8x8 =8x4x3x3 =8",
       {{"pads", list({1, 1, 1, 1})}},
       1,
       "conv k=8 r=3 pad=1 bias=true"},
      {"",
       "Conv",
       "1x4x9x9 =8x1x3x3",
       {{"group", whole(4)},
        {"strides", list({2, 2})},
        {"dilations", list({2, 2})},
        {"auto_pad", choice("SAME_UPPER")}},
       1,
       "conv g=4 k=8 r=3 stride=2 pad=2 dilation=2"},
      {"", "Conv", "1x4x9 =8x4x3", {}, 1, "conv k=8 s=3"},
      {"", "Conv", "1x4x8x8 8x4x3x3", {}, 1, "its weights are computed"},
      {"",
       "ConvTranspose",
       "1x4x8x8 =4x6x3x3",
       {{"strides", list({2, 2})}, {"output_padding", list({1, 1})}, {"pads", list({1, 1, 1, 1})}},
       1,
       "conv k=6 r=3 stride=2 pad=1 output_pad=1 transposed=true"},
      {"", "Gemm", "2x4 =8x4 =8", {{"transB", whole(1)}}, 1, "gemm n=8 bias=true"},
      {"",
       "Gemm",
       "4x2 =4x8",
       {{"transA", whole(1)}},
       1,
       "reorder permutation=[1, 0]; gemm n=8 trans_b=false"},
      {"", "MatMul", "2x3x4 =4x8", {}, 1, "view 6x4; gemm n=8 trans_b=false"},
      {"", "MatMul", "2x3x4 2x4x5", {}, 1, "gemm"},
      {"", "MatMul", "5x4 4", {}, 1, "view 1x5x4; view 1x4x1; gemm"},
      {"",
       "MatMul",
       "4x5 =4",
       {{"transA", whole(1)}},
       1,
       "reorder permutation=[1, 0]; gemm n=1 trans_b=false"},
      {"",
       "MatMul",
       "4x5 4",
       {{"transA", whole(1)}},
       1,
       "view 1x4x5; view 1x4x1; gemm trans_a=true"},
      {"",
       "MatMul",
       "4 5x4",
       {{"transB", whole(1)}},
       1,
       "view 1x1x4; view 1x5x4; gemm trans_b=true"},
      {"", "MatMul", "3x4 5x6", {}, 1, "the left operand has 4 columns, the right one 5 rows"},
      {kMicrosoft, "FusedMatMul", "2x3x4 2x5x4", {{"transB", whole(1)}}, 1, "gemm trans_b=true"},
      {kMicrosoft,
       "TransposeMatMul",
       "2x4x3 2x4x5",
       {{"transA", whole(1)}},
       1,
       "gemm trans_a=true"},
      {kMicrosoft,
       "FusedConv",
       "1x4x8x8 =8x4x1x1 =8 1x8x8x8",
       {{"activation", choice("Relu")}},
       1,
       "conv k=8 r=1 bias=true; pointwise function=add; pointwise function=relu"},
      {kMicrosoft,
       "FusedGemm",
       "2x4 =4x8 =8",
       {{"activation", choice("Tanh")}},
       1,
       "gemm n=8 trans_b=false bias=true; pointwise function=tanh"},
      {"",
       "MaxPool",
       "1x4x8x8",
       {{"kernel_shape", list({2, 2})}, {"strides", list({2, 2})}},
       1,
       "pool function=max window=2"},
      {"",
       "AveragePool",
       "1x4x7x7",
       {{"kernel_shape", list({3, 3})},
        {"strides", list({2, 2})},
        {"count_include_pad", whole(1)},
        {"pads", list({1, 1, 1, 1})}},
       1,
       "pool function=avg_include_pad window=3 stride=2 pad=1"},
      {"", "GlobalAveragePool", "1x4x8x8", {}, 1, "pool function=avg_exclude_pad global=true"},
      {"", "GlobalMaxPool", "1x4x8x8", {}, 1, "pool function=max global=true"},
      {"", "Relu", "2x3", {}, 1, "pointwise function=relu"},
      {"",
       "LeakyRelu",
       "2x3",
       {{"alpha", decimal(0.2)}},
       1,
       "pointwise function=leaky_relu alpha=0.2"},
      {"", "Elu", "2x3", {}, 1, "pointwise function=elu"},
      {"", "Sigmoid", "2x3", {}, 1, "pointwise function=sigmoid"},
      {"", "Tanh", "2x3", {}, 1, "pointwise function=tanh"},
      {"", "HardSwish", "2x3", {}, 1, "pointwise function=hardswish"},
      {"", "HardSigmoid", "2x3", {}, 1, "pointwise function=hardsigmoid"},
      {"", "Exp", "2x3", {}, 1, "pointwise function=exp"},
      {"", "Log", "2x3", {}, 1, "pointwise function=log"},
      {"", "Sqrt", "2x3", {}, 1, "pointwise function=sqrt"},
      {"", "Abs", "2x3", {}, 1, "pointwise function=abs"},
      {"", "Swish", "2x3", {{"alpha", decimal(1.5)}}, 1, "pointwise function=swish alpha=1.5"},
      {"", "Gelu", "2x3", {{"approximate", choice("tanh")}}, 1, "pointwise function=gelu_tanh"},
      {kMicrosoft, "Gelu", "2x3", {}, 1, "pointwise function=gelu_erf"},
      {kMicrosoft,
       "BiasGelu",
       "2x3 =3",
       {},
       1,
       "pointwise function=add; pointwise function=gelu_erf"},
      {kMicrosoft,
       "FastGelu",
       "2x3 =3",
       {},
       1,
       "pointwise function=add; pointwise function=gelu_tanh"},
      {kMicrosoft, "QuickGelu", "2x3", {}, 1, "pointwise function=swish alpha=1.702"},
      {"", "Neg", "2x3", {}, 1, "pointwise function=scale alpha=-1"},
      {"", "Clip", "2x3 =0.0 =6.0", {}, 1, "pointwise function=clip alpha=0 beta=6"},
      {"", "Clip", "2x3 =0.0", {}, 1, "pointwise function=relu"},
      {"", "Pow", "2x3 =2.0", {}, 1, "pointwise function=square"},
      {"", "Pow", "2x3 =0.5", {}, 1, "pointwise function=sqrt"},
      {"", "Pow", "2x3 =3.0", {}, 1, "pointwise has only the powers 2 and 0.5"},
      {"", "PRelu", "2x3x4x4 =0.3", {}, 1, "pointwise function=leaky_relu alpha=0.3"},
      {"", "PRelu", "2x3x4x4 =3x1x1", {}, 1, "prelu slopes=channel"},
      {"", "Add", "2x3 =3", {}, 1, "pointwise function=add"},
      {"",
       "Add",
       "ids:2x3 =3",
       {},
       1,
       "it computes positions or masks, for which pointwise has no type"},
      {"", "Sub", "2x3 3", {}, 1, "pointwise function=sub"},
      {"", "Mul", "2x3 =0.5", {}, 1, "pointwise function=scale alpha=0.5"},
      {"", "Mul", "2x3 2x3", {}, 1, "pointwise function=mul"},
      {"", "Div", "2x3 =4.0", {}, 1, "pointwise function=scale alpha=0.25"},
      {"", "Max", "2x3 2x3", {}, 1, "pointwise function=max"},
      {"", "Min", "2x3 2x3", {}, 1, "pointwise function=min"},
      {"", "Sum", "2x3 2x3 2x3", {}, 1, "pointwise function=add; pointwise function=add"},
      {"", "Softmax", "2x3x4", {{"axis", whole(1)}}, 1, "softmax axis=1"},
      {"", "LogSoftmax", "2x3", {}, 1, "softmax log=true"},
      {"",
       "BatchNormalization",
       "1x4x8x8 =4 =4 =4 =4",
       {{"epsilon", decimal(0.001)}},
       1,
       "batch_norm epsilon=0.001"},
      {"", "LayerNormalization", "2x3x4 =4 =4", {}, 1, "layer_norm"},
      {"",
       "LayerNormalization",
       "2x3x4 =3x4",
       {{"axis", whole(1)}},
       1,
       "layer_norm axis=1 shift=false"},
      {"", "RMSNormalization", "2x3x4 =4", {}, 1, "rms_norm"},
      {"", "SimplifiedLayerNormalization", "2x3x4 =4", {}, 1, "rms_norm"},
      {kMicrosoft, "SimplifiedLayerNormalization", "2x3x4 =4", {}, 1, "rms_norm"},
      {"",
       "GroupNormalization",
       "1x4x8x8 =4 =4",
       {{"num_groups", whole(2)}},
       1,
       "group_norm groups=2"},
      {"", "InstanceNormalization", "1x4x8x8 =4 =4", {}, 1, "instance_norm"},
      {"",
       "LRN",
       "1x4x8x8",
       {{"size", whole(5)}, {"alpha", decimal(0.0002)}},
       1,
       "lrn size=5 alpha=0.0002 beta=0.75 k=1"},
      {"", "Upsample", "1x4x8x8 =[1,1,2,2]", {}, 1, "resample function=nearest size=[16, 16]"},
      {"",
       "Resize",
       "1x4x8x8 - - =[1,4,16,12]",
       {{"mode", choice("linear")}},
       1,
       "resample function=linear size=[16, 12]"},
      {"",
       "Resize",
       "1x4x8x8 - - =[1,4,16,16]",
       {{"mode", choice("cubic")}},
       1,
       "resample has no mode cubic"},
      {"", "Resize", "1x4x8x8 - - =[1,4,12,12]", {}, 1, "resample takes the element at the centre"},
      {"",
       "ReduceMean",
       "1x4x8x8",
       {{"axes", list({2, 3})}},
       1,
       "pool function=avg_exclude_pad global=true"},
      {"", "ReduceMean", "2x3x4", {{"axes", list({-1})}}, 1, "reduction function=mean axis=[2]"},
      {"", "ReduceSum", "2x3x4 =[1]", {}, 1, "reduction function=sum axis=[1]"},
      {"", "ReduceMax", "2x3x4", {{"axes", list({0})}}, 1, "reduction function=max axis=[0]"},
      {"", "ReduceMin", "2x3x4", {{"axes", list({0})}}, 1, "reduction function=min axis=[0]"},
      {"", "ReduceProd", "2x3x4", {}, 1, "reduction function=prod axis=[0, 1, 2]"},
      {"", "ReduceL1", "2x3x4", {{"axes", list({2})}}, 1, "reduction function=l1 axis=[2]"},
      {"", "ReduceL2", "2x3x4", {{"axes", list({2})}}, 1, "reduction function=l2 axis=[2]"},
      {"",
       "ReduceSumSquare",
       "2x3x4",
       {{"axes", list({2})}},
       1,
       "pointwise function=square; reduction function=sum axis=[2]"},
      {"", "Reshape", "2x3 =[3,2]", {}, 1, "no layer"},
      {"",
       "Reshape",
       "2x3 =[4,2]",
       {},
       1,
       "it makes [4, 2] of [2, 3], which has another number of elements"},
      {"", "Flatten", "2x3x4", {}, 1, "no layer"},
      {"", "Squeeze", "1x3 =[0]", {}, 1, "no layer"},
      {"", "Unsqueeze", "2x3 =[0]", {}, 1, "no layer"},
      {"", "Identity", "2x3", {}, 1, "no layer"},
      {"", "Dropout", "2x3", {}, 1, "no layer"},
      {"", "Cast", "2x3", {{"to", whole(kFloat16)}}, 1, "no layer"},
      {"",
       "Cast",
       "2x3",
       {{"to", whole(kInt64)}},
       1,
       "it converts between numbers and integers, which no layer does"},
      {"", "CastLike", "2x3 2x3", {}, 1, "no layer"},
      {"", "Transpose", "2x3x4", {{"perm", list({0, 2, 1})}}, 1, "reorder permutation=[0, 2, 1]"},
      {"", "Transpose", "1x3x4", {{"perm", list({1, 0, 2})}}, 1, "no layer"},
      {"", "Concat", "2x3 2x5", {{"axis", whole(1)}}, 1, "concat axis=1"},
      {"", "Slice", "2x8 =[2] =[6] =[1]", {}, 1, "slice begin=2 size=4"},
      {"", "Slice", "2x8 =[0] =[8] =[1] =[2]", {}, 1, "slice has no steps"},
      {"", "Split", "2x8", {{"axis", whole(1)}}, 2, "slice size=4; slice begin=4 size=4"},
      {"", "Gather", "=10x4 ids:3", {}, 1, "embedding rows=10 dim=4"},
      {"", "Gather", "10x4 =[2,3]", {}, 1, "slice axis=0 begin=2 size=2"},
      {"", "Gather", "10x4 ids:3", {}, 1, "gather axis=0"},
      {"", "Expand", "1x3 =[4,3]", {}, 1, "concat axis=0"},
      {"", "Tile", "2x3 =[1,2]", {}, 1, "concat axis=1"},
      {"", "Pad", "1x4x8x8 =[0,0,0,0,0,0,0,0]", {}, 1, "no layer"},
      {"", "Pad", "1x4x8x8 =[0,0,1,1,0,0,1,1]", {}, 1, "no operator pads a tensor"},
      {"",
       "DepthToSpace",
       "1x8x4x4",
       {{"blocksize", whole(2)}, {"mode", choice("CRD")}},
       1,
       "view 1x2x2x2x4x4; reorder permutation=[0, 1, 4, 2, 5, 3]"},
      {"",
       "SpaceToDepth",
       "1x2x8x8",
       {{"blocksize", whole(2)}},
       1,
       "view 1x2x4x2x4x2; reorder permutation=[0, 3, 5, 1, 2, 4]"},
      {"",
       "Attention",
       "1x2x6x8 1x2x6x8 1x2x6x8",
       {{"is_causal", whole(1)}},
       1,
       "attention causal=true"},
      {"",
       "Attention",
       "1x6x16 1x6x16 1x6x16 6x6",
       {{"q_num_heads", whole(2)}, {"kv_num_heads", whole(2)}},
       1,
       "view 1x6x2x8; reorder permutation=[0, 2, 1, 3]; view 1x6x2x8; reorder permutation=[0, 2, "
       "1, 3]; view 1x6x2x8; reorder permutation=[0, 2, 1, 3]; view 2x6x8; view 2x6x8; gemm "
       "trans_b=true; view 1x2x6x6; pointwise function=scale alpha=0.35355338; pointwise "
       "function=add; softmax; view 2x6x6; view 2x6x8; gemm; view 1x2x6x8; reorder permutation=[0, "
       "2, 1, 3]"},
      {"", "RotaryEmbedding", "1x2x6x8 =6x4 =6x4", {}, 1, "rope"},
      {kMicrosoft,
       "RotaryEmbedding",
       "1x6x16 ids:1x6 =6x4 =6x4",
       {{"num_heads", whole(2)}},
       1,
       "view 1x6x2x8; reorder permutation=[0, 2, 1, 3]; rope; reorder permutation=[0, 2, 1, 3]"},
      {kMicrosoft,
       "Attention",
       "1x6x16 =16x48 =48",
       {{"num_heads", whole(2)}},
       1,
       "view 6x16; gemm n=48 trans_b=false bias=true; view 1x6x48; slice size=16; view 1x6x2x8; "
       "reorder permutation=[0, 2, 1, 3]; slice begin=16 size=16; view 1x6x2x8; reorder "
       "permutation=[0, 2, 1, 3]; slice begin=32 size=16; view 1x6x2x8; reorder permutation=[0, 2, "
       "1, 3]; attention; reorder permutation=[0, 2, 1, 3]"},
      {kMicrosoft,
       "MultiHeadAttention",
       "1x6x16 1x6x16 1x6x16",
       {{"num_heads", whole(2)}},
       1,
       "view 1x6x2x8; reorder permutation=[0, 2, 1, 3]; view 1x6x2x8; reorder permutation=[0, 2, "
       "1, 3]; view 1x6x2x8; reorder permutation=[0, 2, 1, 3]; attention; reorder permutation=[0, "
       "2, 1, 3]"},
      {kMicrosoft,
       "SkipLayerNormalization",
       "2x3x4 2x3x4 =4 =4 =4",
       {},
       1,
       "pointwise function=add; pointwise function=add; layer_norm epsilon=1e-12"},
      {kMicrosoft,
       "SkipSimplifiedLayerNormalization",
       "2x3x4 2x3x4 =4",
       {},
       1,
       "pointwise function=add; rms_norm epsilon=1e-12"},
      {"", "QuantizeLinear", "2x4 =0.5 =u8:1", {}, 1, "no layer"},
      {"", "DequantizeLinear", "u8:2x4 =0.5 =u8:1", {}, 1, "no layer"},
      {kMicrosoft, "QuantizeLinear", "2x4 =0.5 =u8:1", {}, 1, "no layer"},
      {kMicrosoft, "DequantizeLinear", "u8:2x4 =0.5 =u8:1", {}, 1, "no layer"},
      {"",
       "QLinearConv",
       "u8:1x4x8x8 =0.5 =u8:1 =s8:8x4x1x1 =0.5 =s8:1 =0.5 =u8:1",
       {},
       1,
       "conv k=8 r=1 in integers"},
      {"",
       "QLinearMatMul",
       "u8:2x4 =0.5 =u8:1 =s8:4x8 =0.5 =s8:1 =0.5 =u8:1",
       {},
       1,
       "gemm n=8 trans_b=false in integers"},
      {kMicrosoft,
       "QGemm",
       "u8:2x4 =0.5 =u8:1 =s8:8x4 =0.5 =s8:1 =s32:8",
       {{"transB", whole(1)}},
       1,
       "gemm n=8 bias=true in integers"},
      {"", "MatMulInteger", "u8:2x4 =s8:4x8", {}, 1, "gemm n=8 trans_b=false in integers"},
      {"", "ConvInteger", "u8:1x4x8x8 =s8:8x4x1x1", {}, 1, "conv k=8 r=1 in integers"},
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
