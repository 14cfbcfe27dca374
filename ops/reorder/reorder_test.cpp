// SPDX-License-Identifier: Apache-2.0
#include "ops/reorder/reorder.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("reorder");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 3, 5)));
  for (std::int64_t& size : shape) size = draw(random, 1, 20);
  set.set("shape", shape);
  for (const std::string_view name : {"from", "to"}) {
    set.set(name, std::string(reorder_layouts()[static_cast<std::size_t>(draw(random, 0, 2))]));
  }
  const DataType dtype = draw(random, 0, 1) == 0 ? DataType::f32 : DataType::s8;
  Result<Problem> made =
      make_problem({.op = &op, .dtype = dtype, .parameters = set, .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

TEST(Reorder, MovesEveryElementOnceAndTokensComeBack) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    std::int64_t elements = 1;
    for (const std::int64_t size : problem.parameters.numbers("shape")) elements *= size;
    ASSERT_EQ(problem.work.flops, 0);
    ASSERT_EQ(problem.work.bytes_read, elements * info(problem.dtype).bytes);
    ASSERT_EQ(problem.work.bytes_written, elements * info(problem.dtype).bytes);
    op_test::expect_round_trip(problem);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Reorder, LogicalValuesStay) {
  Random random(2);
  for (int i = 0; i < 50; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    EXPECT_EQ(reorder_reference(problem, inputs, 0, {}), inputs[0]);
    op_test::expect_positions_agree(problem, random);
    ASSERT_FALSE(HasFailure());
  }
}

Problem random_permutation(Random& random) {
  const Operator& op = *find_operator("reorder");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 5)));
  for (std::int64_t& size : shape) size = draw(random, 1, 4);
  set.set("shape", shape);
  const bool is_conversion = draw(random, 0, 2) == 0;
  if (is_conversion) set.set("dst_dtype", std::string("s8"));
  if (!is_conversion || draw(random, 0, 1) == 0) {
    Dims permutation;
    for (std::int64_t i = 0; i < std::ssize(shape); ++i) permutation.push_back(i);
    std::ranges::shuffle(permutation, random);
    set.set("permutation", permutation);
  }
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::f32, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the indexes of the source's elements.
TEST(Reorder, PermutationsAndConversionsEqualALoopNest) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_permutation(random);
    auto inputs = op_test::random_inputs(problem, random());
    for (double& value : inputs[0]) value *= 300;
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const Dims& shape = problem.parameters.numbers("shape");
    Dims permutation;
    for (std::int64_t d = 0; d < std::ssize(shape); ++d) permutation.push_back(d);
    if (problem.parameters.has("permutation")) {
      permutation = problem.parameters.numbers("permutation");
    }
    const bool is_conversion = problem.parameters.has("dst_dtype");
    for (std::size_t e = 0; e < result.size(); ++e) {
      auto left = static_cast<std::int64_t>(e);
      Dims index(shape.size());
      for (std::size_t d = shape.size(); d-- > 0;) {
        index[d] = left % shape[d];
        left /= shape[d];
      }
      std::int64_t position = 0;
      for (const std::int64_t axis : permutation) {
        const auto d = static_cast<std::size_t>(axis);
        position = position * shape[d] + index[d];
      }
      const double want =
          is_conversion ? std::clamp(std::nearbyint(inputs[0][e]), -128.0, 127.0) : inputs[0][e];
      EXPECT_EQ(result[static_cast<std::size_t>(position)], want);
    }
    const auto elements = static_cast<std::int64_t>(result.size());
    ASSERT_EQ(problem.work.bytes_read, 4 * elements);
    ASSERT_EQ(problem.work.bytes_written, (is_conversion ? 1 : 4) * elements);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Reorder, TextsOfPermutationsComeBack) {
  op_test::expect_texts_and_positions(random_permutation, 4, 3000);
  EXPECT_EQ(problem_tokens(op_test::problem("reorder", "2x3x4-p0x2x1")), "2x3x4-p0x2x1");
  EXPECT_EQ(problem_tokens(op_test::problem("reorder", "2x3-bf16")), "2x3-bf16");
  const Problem both = op_test::problem("reorder", "2x3x4-nchw-nhwc-bf16");
  EXPECT_EQ(problem_tokens(both), "2x3x4-nchw-nhwc-bf16");
  op_test::expect_bytes(both, (4 + 2) * 24);
}

TEST(Reorder, CanonicalText) {
  const Problem problem = op_test::problem("reorder", "1x64x56x56-nchw-blocked16");
  EXPECT_EQ(problem_tokens(problem), "1x64x56x56-nchw-blocked16");
  op_test::expect_bytes(problem, 2 * 4 * 64 * 56 * 56);
}

TEST(Reorder, ImpossibleParametersAreNamed) {
  EXPECT_EQ(op_test::try_problem("reorder", "64x56-nchw-nhwc").error().where, "shape");
  ParameterSet set(find_operator("reorder")->parameters);
  set.set("shape", Dims{1, 2, 3});
  set.set("from", std::string("nchw"));
  EXPECT_EQ(find_operator("reorder")->complete(set).error().where, "to");
  const auto where = [](const char* tokens) {
    return op_test::try_problem("reorder", tokens).error().where;
  };
  EXPECT_EQ(where("2x3x4"), "from");
  EXPECT_EQ(where("2x3x4-nchw-nhwc-p0x2x1"), "permutation");
  EXPECT_EQ(where("2x3x4-p0x2"), "permutation");
  EXPECT_EQ(where("2x3x4-p0x2x2"), "permutation");
  EXPECT_EQ(where("2x3x4-p0x2x3"), "permutation");
  EXPECT_EQ(op_test::try_problem("reorder", "2x3x4-p0x2x3").error().what,
            "`permutation` is 0x2x3, expected each axis of the shape 2x3x4 once, 0 to 2");
}

}  // namespace
}  // namespace bench::ops
