// SPDX-License-Identifier: Apache-2.0
// Models of tests/data/onnx, which make_models.py writes.
#include "base/file.hpp"
#include "harness/config/network_file.hpp"
#include "harness/import/import_test_support.hpp"
#include "harness/import/receipt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string model_bytes(const std::string& name) {
  const auto bytes =
      read_file(BENCH_SOURCE_DIR "/tests/data/onnx/" + name + ".onnx", kMaxImportBytes);
  if (!bytes.ok()) ADD_FAILURE() << bytes.error().message();
  return bytes.ok() ? *bytes : std::string();
}

Result<ImportOutput> import_bytes(const std::string& bytes,
                                  const std::vector<std::string>& dimensions = {}) {
  return import_files(*find_import_kind("onnx"),
                      {.files = {{"model.onnx", bytes}}, .dimensions = dimensions, .name = "net"});
}

ImportOutput import_model(const std::string& name,
                          const std::vector<std::string>& dimensions = {}) {
  auto output = import_bytes(model_bytes(name), dimensions);
  if (!output.ok()) ADD_FAILURE() << output.error().message();
  return output.ok() ? *std::move(output) : ImportOutput{};
}

// The lines of the layers.
std::vector<std::string> layer_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.starts_with("  - {")) lines.emplace_back(line.substr(4));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  return lines;
}

std::string receipt_of(const ImportOutput& output) {
  constexpr std::size_t kWidth = 400;
  return format_receipt(*find_import_kind("onnx"), output.found, 0, kWidth);
}

TEST(OnnxImport, ConvolutionsNormsAndAClassifierAreANetwork) {
  const ImportOutput output = import_model("cnn", {"batch=4"});
  EXPECT_THAT(
      layer_lines(output.text),
      ElementsAre(
          "{ name: stem.Conv, op: conv, k: 8, r: 3, stride: 2, pad: 1, bias: true, inputs: "
          "[image] }",
          "{ name: relu.Relu, op: pointwise, function: relu }",
          "{ name: pool.MaxPool, op: pool, function: max, window: 3, stride: 2, pad: 1 }",
          "{ name: body.Conv, op: conv, k: 8, r: 3, pad: 1 }",
          "{ name: norm.BatchNormalization, op: batch_norm, epsilon: 0.001 }",
          "{ name: sum.Add, op: pointwise, function: add, inputs: [norm.BatchNormalization, "
          "pool.MaxPool] }",
          "{ name: sum.relu.Relu, op: pointwise, function: relu }",
          "{ name: mean.GlobalAveragePool, op: pool, function: avg_exclude_pad, global: true }",
          "{ name: mean.GlobalAveragePool.view, reshape: [4, 8] }",
          "{ name: scores.Gemm, op: gemm, n: 10, bias: true }"));
  EXPECT_TRUE(output.found.refused.empty());
  EXPECT_EQ(output.found.model->nodes, 11);
  EXPECT_EQ(output.found.model->expressed, 11);
  EXPECT_TRUE(output.found.model->scales_with_batch);
}

TEST(OnnxImport, ANetworkLoadsAndHasItsCases) {
  const ImportOutput output = import_model("cnn");
  LoadRequest request;
  request.arguments = {"net.yaml"};
  request.read = [&](const std::string&) -> Result<std::string> { return output.text; };
  const auto plan = load_plan(request);
  ASSERT_TRUE(plan.ok()) << plan.error().front().message();
  EXPECT_GT(plan->cases.size(), 4U);
  EXPECT_EQ(output.found.model->parameters, 8 * 27 + 8 + 8 * 72 + 16 + 80 + 10);
}

TEST(OnnxImport, NodesThatComputeShapesAreFoldedAndGeluIsOneLayer) {
  const ImportOutput output = import_model("attention", {"sequence=6"});
  EXPECT_TRUE(output.found.refused.empty()) << receipt_of(output);
  EXPECT_EQ(output.found.model->nodes, 33);
  EXPECT_THAT(output.text, HasSubstr("function: gelu_erf"));
  EXPECT_THAT(output.text, HasSubstr("op: reorder, permutation: [0, 2, 1, 3]"));
  EXPECT_THAT(output.text, HasSubstr("trans_b: true"));
  EXPECT_THAT(output.text, HasSubstr("function: scale, alpha: 0.35355"));
  EXPECT_THAT(output.text, Not(HasSubstr("erf1")));
  EXPECT_THAT(receipt_of(output),
              HasSubstr("Sizes that were not given: batch = 1; `--dimension batch=8` sets one."));
}

TEST(OnnxImport, ProductsTakeTheBiasThatIsAddedToThem) {
  const ImportOutput output = import_model("attention", {"sequence=6"});
  EXPECT_THAT(output.text, HasSubstr("op: gemm, n: 16, trans_b: false, bias: true"));
}

TEST(OnnxImport, NodesThatExportersWriteForOneOperatorAreOneLayer) {
  const ImportOutput output = import_model("patterns");
  EXPECT_TRUE(output.found.refused.empty()) << receipt_of(output);
  EXPECT_EQ(output.found.model->nodes, 27);
  EXPECT_THAT(layer_lines(output.text),
              ElementsAre("{ name: conv.Conv, op: conv, k: 4, r: 3, pad: 1, inputs: [x] }",
                          "{ name: swish.Mul, op: pointwise, function: swish }",
                          "{ name: hardswish.Div, op: pointwise, function: hardswish }",
                          "{ name: layer_norm.Add, op: layer_norm, epsilon: 0.001 }",
                          "{ name: rms_norm.Mul, op: rms_norm, epsilon: 0.001, scale: false }",
                          "{ name: safe.Where, op: softmax }"));
}

TEST(OnnxImport, SlopesWindowsSizesAndRecurrentLayersAreLayers) {
  const ImportOutput output = import_model("images_and_sequences");
  const std::string& text = output.text;
  EXPECT_THAT(text,
              HasSubstr("{ name: normal.InstanceNormalization, op: instance_norm, inputs: [x] }"));
  EXPECT_THAT(text, HasSubstr("op: prelu"));
  EXPECT_THAT(text, HasSubstr("op: lrn, size: 5"));
  EXPECT_THAT(text, HasSubstr("op: resample, function: nearest, size: [16, 16]"));
  EXPECT_THAT(text, HasSubstr("op: resample, function: linear, size: [32, 32]"));
  EXPECT_THAT(text, HasSubstr("op: lstm, hidden: 8"));
  EXPECT_THAT(text, HasSubstr("op: slice, axis: 0, begin: 4, size: 1"));
  EXPECT_THAT(text, HasSubstr("op: gru, hidden: 8, bidirectional: true"));
  EXPECT_THAT(text, HasSubstr("permutation: [0, 2, 1, 3]"));
  EXPECT_THAT(text, Not(HasSubstr("op: rnn")));
  EXPECT_THAT(receipt_of(output), HasSubstr("it runs from the last step to the first only"));
}

TEST(OnnxImport, ANormOverChannelsIsNoLayerNorm) {
  const ImportOutput output = import_model("almost_patterns");
  EXPECT_THAT(output.text, Not(HasSubstr("op: layer_norm")));
  EXPECT_THAT(output.text, Not(HasSubstr("op: rms_norm")));
}

TEST(OnnxImport, OtherConstantsThanThoseOfGeluAndHardswishStayNodes) {
  const ImportOutput output = import_model("almost_patterns");
  EXPECT_THAT(output.text, Not(HasSubstr("hardswish")));
  EXPECT_THAT(output.text, Not(HasSubstr("gelu_erf")));
}

TEST(OnnxImport, NodesAtTheEdgesBecomeInputsAndOutputs) {
  const ImportOutput output = import_model("edges", {"sequence=5"});
  EXPECT_THAT(output.text, HasSubstr("op: embedding, rows: 100, dim: 8"));
  EXPECT_THAT(output.text, HasSubstr("  mask.sin: [1, 5, 1]\n"));
  EXPECT_THAT(output.text, HasSubstr("outputs:\n  - p.Softmax\n"));
  EXPECT_THAT(receipt_of(output), HasSubstr("2 cannot be expressed:"));
  EXPECT_THAT(receipt_of(output), HasSubstr("no operator for ArgMax"));
  EXPECT_THAT(receipt_of(output), HasSubstr("is at the edges of the graph"));
}

TEST(OnnxImport, AHoleBetweenLayersLeavesASuite) {
  const ImportOutput output = import_model("hole");
  EXPECT_THAT(output.text, HasSubstr("# 2 nodes, 4096 FLOP: 59.0 % of all"));
  EXPECT_THAT(output.text, HasSubstr("- { op: conv, c: 4, h: 8, k: 4, r: 1, multiplicity: 2 }"));
  EXPECT_THAT(output.text,
              HasSubstr("- { op: conv, g: 4, c: 4, h: 8, k: 4, r: 3, multiplicity: 1 }"));
  EXPECT_THAT(receipt_of(output),
              HasSubstr("a suite of 2 distinct operators, not a network, because operators between "
                        "its layers cannot be expressed"));
  EXPECT_EQ(test::load_suite(output.text).cases.size(), 2U);
}

// The sums of `run` and `report` counted an operator once that the model has twice.
TEST(OnnxImport, ACaseOfASuiteCountsAsOftenAsTheModelHasIt) {
  const Plan plan = test::load_suite(import_model("hole").text);
  ASSERT_EQ(plan.cases.size(), 2U);
  EXPECT_EQ(plan.cases[0].count, 2);
  EXPECT_EQ(plan.cases[1].count, 1);
}

TEST(OnnxImport, QuantisedProductsAreCasesInIntegers) {
  const ImportOutput output = import_model("quantised");
  EXPECT_THAT(output.text, HasSubstr("op: conv, c: 3, h: 4, k: 4, r: 1, dtype: u8"));
  EXPECT_THAT(output.text, HasSubstr("src_scale: tensor, weights_scale: channel, "
                                     "src_zero_point: true, dst_dtype: u8, dtype: u8"));
  EXPECT_THAT(receipt_of(output), HasSubstr("no operator quantises a tensor between operators"));
  EXPECT_EQ(output.found.refused.size(), 3U);
}

// The comments had shares of what is expressed, and FLOPs of the cases in integers.
TEST(OnnxImport, CommentsOfASuiteHaveTheFlopsOfItsSummary) {
  const ImportOutput hole = import_model("hole");
  EXPECT_THAT(receipt_of(hole), HasSubstr("with 96.3 % of 6944 FLOP"));
  EXPECT_THAT(hole.text, HasSubstr("# 1 node, 2592 FLOP: 37.3 % of all"));
  const ImportOutput quantised = import_model("quantised");
  EXPECT_EQ(quantised.found.model->all_flops(), 1712);
  std::int64_t sum = 0;
  for (const ImportedCase& item : quantised.found.cases) sum += item.in_model->flops;
  EXPECT_EQ(sum, 1712);
}

// They were counted for each layer, as if the model stored them as often.
TEST(OnnxImport, ParametersThatLayersShareAreStated) {
  const ImportOutput output = import_model("shared");
  EXPECT_TRUE(output.found.refused.empty()) << receipt_of(output);
  // Two norms of 8 and two products of 8 x 8, one with the matrix of the other transposed.
  EXPECT_EQ(output.found.model->parameters, 2 * 16 + 2 * 64);
  EXPECT_EQ(output.found.model->shared_parameters, 16 + 64);
  EXPECT_THAT(receipt_of(output),
              HasSubstr("The model stores 80 parameters: layers share 80, of which the network has "
                        "copies."));
  EXPECT_EQ(import_model("cnn").found.model->shared_parameters, 0);
}

// It was refused: "its operands are not matrices".
TEST(OnnxImport, ATransposedMatrixTimesAVectorIsAProduct) {
  const ImportOutput output = import_model("vector");
  EXPECT_TRUE(output.found.refused.empty()) << receipt_of(output);
  EXPECT_THAT(output.text, HasSubstr("op: gemm, trans_a: true"));
  EXPECT_EQ(output.found.model->macs, 4 * 6);
}

TEST(OnnxImport, ADimensionThatTheModelDoesNotHaveIsAnError) {
  const auto output = import_bytes(model_bytes("cnn"), {"bach=4"});
  ASSERT_FALSE(output.ok());
  EXPECT_THAT(output.error().message(), HasSubstr("did you mean `batch`?"));
  EXPECT_FALSE(import_bytes(model_bytes("cnn"), {"batch"}).ok());
  EXPECT_FALSE(import_bytes(model_bytes("cnn"), {"batch=0"}).ok());
}

TEST(OnnxImport, ATruncatedModelIsAnErrorAtAByte) {
  const std::string bytes = model_bytes("attention");
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    const auto output = import_bytes(bytes.substr(0, size));
    if (output.ok()) continue;  // a field may end here
    EXPECT_THAT(output.error().where, HasSubstr("model.onnx")) << size;
    EXPECT_FALSE(output.error().next.empty()) << size;
  }
  const auto cut = import_bytes(bytes.substr(0, bytes.size() / 2));
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message(), HasSubstr("model.onnx: byte 1"));
  EXPECT_THAT(import_bytes("").error().message(), HasSubstr("model.onnx: is empty; name"));
  EXPECT_THAT(import_bytes("# A document\n").error().message(),
              HasSubstr("model.onnx: is not an ONNX model: byte 0 begins no field of one; name"));
}

TEST(OnnxImport, ChangedBytesDoNotLeaveTheFormat) {
  constexpr std::size_t kStep = 13;  // every byte takes minutes
  for (const std::string name : {"cnn", "attention", "edges", "hole", "quantised"}) {
    const std::string bytes = model_bytes(name);
    for (std::size_t i = 0; i < bytes.size(); i += kStep) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? 0x7f : 0x81));
      const auto output = import_bytes(changed);
      if (output.ok())
        EXPECT_TRUE(output->found.model.has_value());
      else
        EXPECT_FALSE(output.error().where.empty()) << name << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace bench
