// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/slice.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_slice(Random& random) {
  const Operator& op = *find_operator("slice");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 5);
  const std::int64_t axis = draw(random, 0, std::ssize(shape) - 1);
  const std::int64_t size = draw(random, 1, shape[static_cast<std::size_t>(axis)]);
  set.set("shape", shape);
  set.set("axis", axis);
  set.set("size", size);
  set.set("begin", draw(random, 0, shape[static_cast<std::size_t>(axis)] - size));
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::s8, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the indexes of all elements of the source, and expects those within the range in
// order.
TEST(Slice, ValuesAndBytesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_slice(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    const std::int64_t begin = problem.parameters.count("begin");
    const std::int64_t size = problem.parameters.count("size");
    std::int64_t stride = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d];
    std::vector<double> expected;
    for (std::size_t e = 0; e < inputs[0].size(); ++e) {
      const std::int64_t index = static_cast<std::int64_t>(e) / stride % shape[axis];
      if (index >= begin && index < begin + size) expected.push_back(inputs[0][e]);
    }
    ASSERT_EQ(built_in_reference(problem, inputs, 0, {}), expected) << problem_tokens(problem);
    const auto elements = static_cast<std::int64_t>(expected.size());
    ASSERT_EQ(problem.work.flops, 0);
    ASSERT_EQ(problem.work.bytes_read, elements);
    ASSERT_EQ(problem.work.bytes_written, elements);
  }
}

TEST(Slice, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_slice, 2, 3000);
}

TEST(Slice, GoldenValues) {
  const std::vector<std::vector<double>> source = {{1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(built_in_reference(op_test::problem("slice", "2x3-b1s2"), source, 0, {}),
              ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(built_in_reference(op_test::problem("slice", "3x2-a0s1"), source, 0, {}),
              ElementsAre(1, 2));
}

TEST(Slice, TheGradientIsThatOfTheRangeAndZeroElsewhere) {
  const auto gradient = [](const char* tokens) {
    return op_test::problem("slice", tokens, DataType::f32, Direction::backward_data);
  };
  const std::vector<std::vector<double>> range = {{1, 2, 3, 4}};
  EXPECT_THAT(built_in_reference(gradient("2x3-b1s2"), range, 0, {}),
              ElementsAre(0, 1, 2, 0, 3, 4));
  EXPECT_THAT(built_in_reference(gradient("4x2-a0b1s2"), range, 0, {}),
              ElementsAre(0, 0, 1, 2, 3, 4, 0, 0));
  const Problem problem = gradient("2x3-b1s2");
  EXPECT_EQ(problem.work.flops, 0);
  EXPECT_EQ(problem.work.bytes_read, 4 * 4);
  EXPECT_EQ(problem.work.bytes_written, 6 * 4);
  EXPECT_EQ(op_test::try_problem("slice", "2x3-b1s2", DataType::s8, Direction::backward_data)
                .error()
                .where,
            "dtype");
}

TEST(Slice, TheRangeMustBeWithinTheAxis) {
  const auto error = [](const char* tokens) {
    return op_test::try_problem("slice", tokens).error();
  };
  EXPECT_EQ(error("2x7-b4s4").where, "size");
  EXPECT_EQ(error("2x7-b4s4").what, "the range ends at 8, axis 1 of the shape 2x7 has 7");
  EXPECT_EQ(error("2x7-a2s1").where, "axis");
  EXPECT_EQ(error("2x7").where, "size");
}

}  // namespace
}  // namespace bench::ops
