// SPDX-License-Identifier: Apache-2.0
#include "ops/post_op.hpp"

#include "ops/pointwise/functions.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using op_test::problem;
using op_test::random_inputs;
using ::testing::HasSubstr;

PostOp parse_one_post_op(std::string_view text) {
  const Result<PostOp> result = parse_post_op(text);
  EXPECT_TRUE(result.ok()) << text << ": " << result.error().message();
  return *result;
}

TEST(PostOp, DefaultsAreThoseOfPointwise) {
  EXPECT_EQ(parse_one_post_op("relu"), (PostOp{"relu", 0, 0}));
  EXPECT_EQ(parse_one_post_op("clip"), (PostOp{"clip", 0, 6}));
  EXPECT_EQ(parse_one_post_op("add"), (PostOp{"add", 0, 0}));
}

TEST(PostOp, TextRoundTrips) {
  for (const char* text : {"relu", "add", "clip", "clip-1_1", "leaky_relu0.1", "elu1e-05",
                           "swish1e30", "clip0.25_0.5"}) {
    EXPECT_EQ(format_post_op(parse_one_post_op(text)), text);
  }
  for (const UnaryFunction& function : unary_functions()) {
    EXPECT_EQ(format_post_op(parse_one_post_op(function.name)), function.name);
  }
  EXPECT_EQ(format_post_op(parse_one_post_op("clip0_6")), "clip");
  EXPECT_EQ(parse_one_post_op("clip-1"), (PostOp{"clip", -1, 6}));
}

TEST(PostOp, ErrorsNameTheNearestFunction) {
  const auto message = [](std::string_view text) {
    const Result<PostOp> result = parse_post_op(text);
    return result.ok() ? "accepted" : result.error().message();
  };
  EXPECT_THAT(message("relo"), HasSubstr("did you mean `relu`?"));
  EXPECT_THAT(message("softsign"), HasSubstr("expected one of add, relu"));
  EXPECT_THAT(message("relu6"), HasSubstr("post-op `relu` takes 0 numbers, found `6`"));
  EXPECT_THAT(message("clip1_"), HasSubstr("takes 2 numbers"));
  EXPECT_THAT(message("clip1_2_3"), HasSubstr("takes 2 numbers"));
  EXPECT_THAT(message("elu1x"), HasSubstr("takes 1 numbers, found `1x`"));
  EXPECT_THAT(message("add2"), HasSubstr("unknown post-op `add2`"));
  EXPECT_THAT(message(""), HasSubstr("unknown post-op ``"));
}

TEST(AddPostOps, WorkAndTensors) {
  const Problem plain = problem("gemm", "m8n16k4");
  const Problem fused = problem("gemm", "m8n16k4+add+gelu_erf");
  const std::int64_t elements = 8 * 16;
  EXPECT_EQ(fused.work.flops, plain.work.flops + elements * (1 + 4));
  EXPECT_EQ(fused.work.flops_valid, fused.work.flops);
  EXPECT_EQ(fused.work.sfu_ops, elements);
  EXPECT_EQ(fused.work.macs, plain.work.macs);
  EXPECT_EQ(fused.work.bytes_read, plain.work.bytes_read + 4 * elements);
  EXPECT_EQ(fused.work.bytes_written, plain.work.bytes_written);
  EXPECT_EQ(fused.formulas.back().name, "bytes");
  EXPECT_EQ(fused.formulas.back().result, fused.work.traffic().count);
}

TEST(AddPostOps, ResidualsStandBeforeTheOutput) {
  const Problem fused = problem("gemm", "m2n2k2+bias+add+add", DataType::bf16);
  ASSERT_EQ(fused.tensors.size(), 6u);
  EXPECT_EQ(fused.tensors[3].name, "residual");
  EXPECT_EQ(fused.tensors[4].name, "residual_2");
  EXPECT_EQ(fused.tensors[4].dtype, DataType::bf16);
  EXPECT_EQ(fused.tensors[4].role, TensorRole::input);
  EXPECT_EQ(fused.tensors[5].name, "destination");
}

TEST(ReferenceValues, AppliesPostOpsInOrder) {
  const Problem fused = problem("gemm", "m1n3k1+add+relu");
  const std::vector<std::vector<double>> inputs = {{2}, {1, -2, 3}, {-3, 1, 0.5}};
  EXPECT_EQ(built_in_reference(fused, inputs, 0, {}), (std::vector<double>{0, 0, 6.5}));
  const Problem other = problem("gemm", "m1n3k1+relu+add");
  EXPECT_EQ(built_in_reference(other, inputs, 0, {}), (std::vector<double>{-1, 1, 6.5}));
}

TEST(ReferenceValues, ResidualsBelongToTheirPositions) {
  const Problem fused = problem("conv", "c3h5w4k2r3s3p1+bias+add+swish");
  const auto inputs = random_inputs(fused, 1);
  const std::vector<double> whole = built_in_reference(fused, inputs, 0, {});
  const std::vector<std::int64_t> positions = {39, 0, 17};
  const std::vector<double> some = built_in_reference(fused, inputs, 0, positions);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    EXPECT_NEAR(some[i], whole[static_cast<std::size_t>(positions[i])], 1e-14);
  }
}

TEST(ReferenceValues, IntegerOutputsAreRoundedAndSaturated) {
  const Problem biased = problem("gemm", "m1n2k1+bias", DataType::s8);
  const std::vector<std::vector<double>> inputs = {{3}, {2, -2}, {0.75, 0.75}};
  EXPECT_EQ(built_in_reference(biased, inputs, 0, {}), (std::vector<double>{7, -5}));
  const Problem squared = problem("gemm", "m1n1k1+square+square+square", DataType::s8);
  const std::vector<std::vector<double>> large = {{127}, {127}};
  EXPECT_EQ(built_in_reference(squared, large, 0, {}).front(), 2147483647.0);
}

}  // namespace
}  // namespace bench::ops
