// SPDX-License-Identifier: Apache-2.0
#include "ops/peak/peak.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::HasSubstr;

TEST(Peak, ArithmeticCountsTheProductsOfAllAccumulators) {
  const Problem fma = op_test::problem("peak", "fma_avx512");
  EXPECT_EQ(fma.work.flops, 2 * 12 * 16 * kPeakSteps);
  op_test::expect_bytes(fma, 2 * 4 * 12 * 16);
  const Problem dot = op_test::problem("peak", "dot_avx512-s10", DataType::s8);
  EXPECT_EQ(dot.work.flops, 2 * 4 * 12 * 16 * 10);
  EXPECT_EQ(dot.tensors.back().dtype, DataType::s32);
}

// STREAM's convention: the lines that a store brings into the cache do not count.
TEST(Peak, MovementCountsEachPassOverTheArrays) {
  op_test::expect_bytes(op_test::problem("peak", "read-b4096"), 4096 + 4);
  op_test::expect_bytes(op_test::problem("peak", "write-b4096s3"), 3 * 4096 + 4);
  op_test::expect_bytes(op_test::problem("peak", "copy_nt-b4096s2"), 2 * 4096);
  const Problem triad = op_test::problem("peak", "triad-b6144s5");
  op_test::expect_bytes(triad, 5 * 6144);
  EXPECT_EQ(triad.work.flops, 5 * 2 * 512);
  EXPECT_EQ(op_test::problem("peak", "copy-b4096").work.flops, 0);
}

TEST(Peak, CanonicalTextIsReadBack) {
  for (const std::string_view tokens : {"fma_avx2", "triad_nt-b6144s5", "read-b512", "amx-s7"}) {
    const DataType dtype = tokens.starts_with("amx") ? DataType::bf16 : DataType::f32;
    EXPECT_EQ(problem_tokens(op_test::problem("peak", tokens, dtype)), tokens);
    op_test::expect_round_trip(op_test::problem("peak", tokens, dtype));
  }
}

TEST(Peak, ReferenceIsTheSumOfProductsOrTheMovedData) {
  const auto second_element = [](std::string_view tokens, DataType dtype,
                                 std::vector<double> source) {
    const Problem problem = op_test::problem("peak", tokens, dtype);
    std::vector<std::vector<double>> inputs(problem.input_count(), std::move(source));
    return peak_reference(problem, inputs, 0, std::vector<std::int64_t>{1}).front();
  };
  EXPECT_EQ(second_element("fma_avx2-s4096", DataType::f32, {0, 0.5}), 1.5);
  EXPECT_EQ(second_element("dot_avx2-s10", DataType::s8, {0, 2}), 42);
  EXPECT_EQ(second_element("read-b512", DataType::f32, {1, 3, 2}), 3);
  EXPECT_EQ(second_element("write-b512", DataType::f32, {1, 3}), 1);
  EXPECT_EQ(second_element("copy-b1024", DataType::f32, {1, 3}), 3);
  EXPECT_EQ(second_element("triad-b1536", DataType::f32, {1, 3}), 12);
}

TEST(Peak, ImpossibleParametersAreNamed) {
  const auto error = [](std::string_view tokens, DataType dtype = DataType::f32) {
    return op_test::try_problem("peak", tokens, dtype).error();
  };
  EXPECT_EQ(error("read").where, "bytes");
  EXPECT_EQ(error("fma_avx2-b512").where, "bytes");
  EXPECT_THAT(error("triad-b512").what, HasSubstr("expected a multiple of 1536"));
  EXPECT_EQ(error("triad-b512").next, "for example 1536");
  // The largest multiple of 512. Rounding up would overflow.
  EXPECT_EQ(error("read-b9223372036854775807").next, "for example 9223372036854775296");
  EXPECT_THAT(error("triad-b512").next, HasSubstr("1536"));
  EXPECT_EQ(error("fma_avx2-s16777217").where, "steps");
  EXPECT_EQ(error("amx").where, "dtype");
  EXPECT_THAT(error("amx").what, HasSubstr("bf16, s8"));
  EXPECT_THAT(error("read-b512", DataType::bf16).what, HasSubstr("only for f32"));
}

TEST(Peak, EveryFunctionHasALoop) {
  const Operator& op = *find_operator("peak");
  for (const std::string_view function : op.parameters.front().words) {
    const bool computes = std::ranges::any_of(
        arithmetic_loops(), [&](const ArithmeticLoop& loop) { return loop.function == function; });
    EXPECT_NE(computes, find_movement_loop(function) != nullptr) << function;
  }
}

}  // namespace
}  // namespace bench::ops
