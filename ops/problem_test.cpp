// SPDX-License-Identifier: Apache-2.0
#include "ops/problem.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using op_test::problem;
using op_test::try_problem;
using ::testing::HasSubstr;

std::string message(std::string_view op, std::string_view tokens, DataType dtype = DataType::f32,
                    Direction direction = Direction::forward) {
  const Result<Problem> result = try_problem(op, tokens, dtype, direction);
  return result.ok() ? "accepted" : result.error().message();
}

TEST(Names, StandInTheOrderOfTheEnumerators) {
  EXPECT_EQ(to_string(Direction::backward_weights), "backward_weights");
  EXPECT_EQ(to_string(Layout::nhwc), "nhwc");
  EXPECT_EQ(to_string(Math::standard), "default");
  EXPECT_EQ(to_string(Math::fast_accumulation), "fast_accumulation");
}

TEST(ElementCount, IsAbsentBeyond63Bits) {
  EXPECT_EQ(element_count(Dims{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Dims{}), 1);
  EXPECT_EQ(element_count(Dims{std::int64_t{1} << 32, std::int64_t{1} << 31}), std::nullopt);
}

TEST(Tensor, SizeIsInItsOwnType) {
  const Tensor tensor{"source", TensorRole::input, DataType::bf16, {2, 3}, 6};
  EXPECT_EQ(tensor.elements(), 6);
  EXPECT_EQ(tensor.size(), Bytes{12});
}

TEST(MakeProblem, RefusesWhatTheOperatorDoesNotHave) {
  EXPECT_EQ(message("reorder", "2x16x9x9-nchw-nhwc", DataType::f32, Direction::backward_data),
            "direction: `reorder` has no direction `backward_data`; expected one of forward");
  EXPECT_THAT(message("conv", "c1w4k1s1", DataType::s32), HasSubstr("dtype: `s32` is the type"));
  EXPECT_THAT(message("softmax", "4x4+relu"), HasSubstr("post_ops: `softmax` takes no post-ops"));
  EXPECT_THAT(message("conv", "c1w4k1s1+relu", DataType::f32, Direction::backward_data),
              HasSubstr("post_ops: post-ops need direction forward, not backward_data"));
}

TEST(MakeProblem, AccumulatesFastOnlyInProductsOfFp8) {
  const auto accumulate = [](std::string_view op, std::string_view tokens, DataType dtype) {
    ProblemTokens parsed = *parse_problem_tokens(*find_operator(op), tokens);
    const Result<Problem> made = make_problem({.op = find_operator(op),
                                               .dtype = dtype,
                                               .math = Math::fast_accumulation,
                                               .parameters = std::move(parsed.parameters),
                                               .post_ops = std::move(parsed.post_ops)});
    return made.ok() ? "accepted" : made.error().message();
  };
  EXPECT_EQ(accumulate("gemm", "m16n16k16+tb", DataType::f8_e4m3), "accepted");
  EXPECT_EQ(accumulate("gemm", "m16n16k16", DataType::f8_e5m2), "accepted");
  EXPECT_EQ(accumulate("gemm", "m16n16k16", DataType::f32),
            "math: `fast_accumulation` applies only to products of fp8, not of f32; set `math: "
            "fast_accumulation` only in entries of gemm with dtype f8_e4m3");
  EXPECT_EQ(accumulate("softmax", "4x4", DataType::f8_e4m3),
            "math: `softmax` has no products that `fast_accumulation` could apply to; set `math: "
            "fast_accumulation` only in entries of gemm with dtype f8_e4m3");
}

TEST(MakeProblem, NothingWrittenIsMissingNotACrash) {
  const Result<Problem> nothing = make_problem({.op = find_operator("conv")});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().where, "c");
}

TEST(MakeProblem, ChecksEachValue) {
  const Operator* conv = find_operator("conv");
  ParameterSet set(conv->parameters);
  set.set("c", std::int64_t{4});
  set.set("k", std::int64_t{4});
  set.set("h", std::int64_t{4});
  set.set("r", std::int64_t{1});
  set.set("g", std::int64_t{0});
  const Result<Problem> zero = make_problem({.op = conv, .parameters = set});
  ASSERT_FALSE(zero.ok());
  EXPECT_EQ(zero.error().message(), "g: `g` is 0, expected an integer >= 1");
}

TEST(ProblemTokens, CarryPostOps) {
  const Problem conv = problem("conv", "c64h56w56k64r3s3p1+bias+add+relu");
  EXPECT_EQ(problem_tokens(conv), "c64h56w56k64r3s3p1+bias+add+relu");
  ASSERT_EQ(conv.post_ops.size(), 2u);
  EXPECT_EQ(conv.post_ops[0].function, "add");
  EXPECT_EQ(conv.tensors[3].name, "residual");
  EXPECT_EQ(conv.input_count(), 4u);
}

TEST(ProblemTokens, UnknownFlagsNameTheValidOnes) {
  const std::string text = message("conv", "c1w4k1s1+relo");
  EXPECT_THAT(text, HasSubstr("unknown flag `+relo` in `c1w4k1s1+relo`"));
  EXPECT_THAT(text, HasSubstr("+bias, +transposed"));
  EXPECT_THAT(text, HasSubstr("did you mean `relu`?"));
}

}  // namespace
}  // namespace bench::ops
