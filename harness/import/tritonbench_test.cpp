// SPDX-License-Identifier: Apache-2.0
#include "base/python_value.hpp"
#include "harness/import/import_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::import_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Result<ImportOutput> import_log(const std::string& function, const std::string& arguments) {
  return import_text("tritonbench", "log.txt",
                     "Operator: aten." + function + "\ncnt: 3, ((" + arguments + "), {})\n");
}

std::vector<std::string> log_ids(const std::string& function, const std::string& arguments) {
  return test::imported_ids(import_log(function, arguments));
}

std::vector<std::string> log_refusals(const std::string& function, const std::string& arguments) {
  return test::refusals(import_log(function, arguments));
}

TEST(PythonValues, AreReadAndNotEvaluated) {
  const auto value =
      parse_python_value("((T([2, 3], f16, stride=(3, 1)), None, -1.5), {'a': True})");
  ASSERT_TRUE(value);
  const PythonValue& tensor = value->items[0].items[0];
  EXPECT_EQ(tensor.word, "T");
  EXPECT_EQ(tensor.items[0].integers(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(tensor.items[2].keyword, "stride");
  EXPECT_TRUE(value->items[0].items[1].is("None"));
  EXPECT_EQ(value->items[0].items[2].integer(), std::nullopt);
  EXPECT_EQ(value->items[1].items[0].integer(), 1);
}

TEST(PythonValues, OtherTextsAreNone) {
  EXPECT_FALSE(parse_python_value(""));
  EXPECT_FALSE(parse_python_value("(1, 2"));
  EXPECT_FALSE(parse_python_value("1 2"));
  EXPECT_FALSE(parse_python_value("'a"));
  EXPECT_FALSE(parse_python_value("[1;2]"));
  EXPECT_TRUE(parse_python_value(std::string(30, '(') + std::string(30, ')')));
  EXPECT_FALSE(parse_python_value(std::string(40, '(') + std::string(40, ')')));
}

TEST(Tritonbench, ProductsWithTheirFormInMemory) {
  EXPECT_THAT(log_ids("mm.default", "T([8, 16], f16), T([16, 4], f16, stride=(1, 16))"),
              ElementsAre("gemm/forward/m8n4k16+tb/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("addmm.default", "T([4], f16), T([8, 16], f16), T([16, 4], f16)"),
              ElementsAre("gemm/forward/m8n4k16+bias/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("bmm.default", "T([6, 8, 16], f32, stride=(128, 1, 8)), T([6, 16, 4], f32)"),
              ElementsAre("gemm/forward/b6m8n4k16+ta+two/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_refusals("mm.default", "T([8, 16], f16, stride=(32, 1)), T([16, 4], f16)"),
              ElementsAre("2: an operand is neither plain nor transposed in memory"));
  EXPECT_THAT(log_refusals("mm.default", "T([8, 16], i64), T([16, 4], i64)"),
              ElementsAre("2: the operands are not two matrices of one type"));
}

TEST(Tritonbench, ConvolutionsAndTheirGradients) {
  EXPECT_THAT(
      log_ids("convolution.default",
              "T([2, 8, 9, 9], f16), T([4, 4, 3, 3], f16), None, [2, 2], [1, 1], [1, 1], False, "
              "[0, 0], 2"),
      ElementsAre("conv/forward/n2g2c8h9w9k4r3s3u2p1/f16/onednn/cpu/hot"));
  EXPECT_THAT(
      log_ids("convolution_backward.default",
              "T([1, 4, 9], f32), T([1, 8, 9], f32), T([4, 8, 1], f32), [0], [1], [0], [1], "
              "False, [0], 1, [True, True, True]"),
      ElementsAre("conv/backward_data/c8w9k4s1/f32/onednn/cpu/hot",
                  "conv/backward_weights/c8w9k4s1+bias/f32/onednn/cpu/hot"));
  EXPECT_THAT(
      log_refusals("convolution.default",
                   "T([1, 4, 9], f32), T([4, 4, 1], f32), None, [1], [0], [1], True, [0], 1"),
      ElementsAre("2: transposed convolutions are not imported"));
}

TEST(Tritonbench, OtherFunctions) {
  EXPECT_THAT(log_ids("_softmax.default", "T([2, 8], f32), -1, False"), SizeIs(1));
  EXPECT_THAT(
      log_ids("_log_softmax_backward_data.default", "T([2, 8], f16), T([2, 8], f16), 1, f16"),
      ElementsAre(HasSubstr("softmax/backward_data/2x8")));
  EXPECT_THAT(log_ids("native_layer_norm.default",
                      "T([2, 8, 4], f16), [4], T([4], f16), T([4], f16), 1e-12"),
              ElementsAre("layer_norm/forward/training-2x8x4/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("relu_.default", "T([2, 8], f16)"),
              ElementsAre("pointwise/forward/relu-2x8/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("hardsigmoid_.default", "T([2, 8], f16)"),
              ElementsAre("pointwise/forward/hardsigmoid-2x8/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("hardsigmoid_backward.default", "T([2, 8], f16), T([2, 8], f16)"),
              ElementsAre("pointwise/backward_data/hardsigmoid-2x8/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("add.Tensor", "T([2, 8], f16), T([8], f16)"),
              ElementsAre("pointwise/forward/add-2x8-1x8/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("mean.dim", "T([4, 6, 8], f32), [-1, 1], True"), SizeIs(1));
  EXPECT_THAT(log_ids("max_pool2d_with_indices.default", "T([1, 8, 9, 9], f16), [3, 3], [2, 2]"),
              ElementsAre("pool/forward/max-c8h9w9r3u2/f16/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("embedding.default", "T([30, 8], f16), T([2, 5], i64), 0"), SizeIs(1));
  EXPECT_THAT(log_ids("cat.default", "[T([2, 5, 1], f16), T([2, 5, 3], f16)], 2"), SizeIs(1));
}

TEST(Tritonbench, FunctionsWithCoefficients) {
  EXPECT_THAT(log_ids("leaky_relu_.default", "T([2, 8], f32), 0.25"),
              ElementsAre("pointwise/forward/leaky_relu-2x8-alpha0.25/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("leaky_relu.default", "T([2, 8], f32)"),
              ElementsAre("pointwise/forward/leaky_relu-2x8/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("elu.default", "T([2, 8], f32), 2.0"), SizeIs(1));
  EXPECT_THAT(log_refusals("elu.default", "T([2, 8], f32), 2.0, 3.0"),
              ElementsAre("2: the coefficients are not understood"));
  EXPECT_THAT(log_ids("hardtanh_.default", "T([2, 8], f32), 0.0, 6.0"),
              ElementsAre("pointwise/forward/clip-2x8/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("hardtanh_backward.default", "T([2, 8], f32), T([2, 8], f32), 0.0, 6.0"),
              ElementsAre("pointwise/backward_data/clip-2x8/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_ids("clamp.default", "T([2, 8], f32), 0, 6"),
              ElementsAre("pointwise/forward/clip-2x8/f32/onednn/cpu/hot"));
  EXPECT_THAT(log_refusals("clamp.default", "T([2, 8], f32), 0"),
              ElementsAre("2: the coefficients are not understood"));
  EXPECT_THAT(log_refusals("clamp.default", "T([2, 8], f32), -inf, 6"),
              ElementsAre("2: the coefficients are not understood"));
}

TEST(Tritonbench, WhatNoCaseComputesIsRefused) {
  EXPECT_THAT(log_refusals("add.Tensor", "T([2, 8], f16), 1"),
              ElementsAre("2: the operands are not two tensors of one type"));
  EXPECT_THAT(log_refusals("sort.default", "T([2, 8], f16), 1"),
              ElementsAre("2: no case computes the function `sort`"));
  EXPECT_THAT(log_refusals("view.default", "T([2, 8], f16), [16]"),
              ElementsAre("2: it only gives a tensor another shape"));
  EXPECT_THAT(log_refusals("mm.default", "T([2, 8"),
              ElementsAre("2: the arguments are not understood"));
  EXPECT_THAT(test::refusals(import_text("tritonbench", "a", "Operator: aten.mm.default\nhello\n")),
              ElementsAre("2: the line is neither `Operator: aten.NAME` nor `cnt: N, (...)`"));
}

TEST(Tritonbench, TablesOfProducts) {
  const auto output =
      import_text("tritonbench", "amd.csv", "M,N,K,Bias\n8,4,16,\r\n2,3,5,4\nx,1,1\n");
  EXPECT_THAT(test::imported_ids(output),
              ElementsAre("gemm/forward/m8n4k16/f16/onednn/cpu/hot",
                          "gemm/forward/m2n3k5+bias/f16/onednn/cpu/hot"));
  EXPECT_THAT(test::refusals(output), ElementsAre("4: M, N or K is not a number"));
}

TEST(Tritonbench, FilesAreRecognisedByTheirFirstLine) {
  EXPECT_EQ(recognise_import("a.txt", "Operator: aten.mm.default\n"),
            find_import_kind("tritonbench"));
  EXPECT_EQ(recognise_import("a.csv", "M,N,K\n1,2,3\n"), find_import_kind("tritonbench"));
  EXPECT_EQ(recognise_import("a.csv", "name,value\n"), nullptr);
}

}  // namespace
}  // namespace bench
