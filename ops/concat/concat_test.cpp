// SPDX-License-Identifier: Apache-2.0
// Tests concat and split.
#include "ops/concat/pieces.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_pieces(Random& random) {
  const Operator& op = *find_operator(draw(random, 0, 1) == 1 ? "concat" : "split");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 5);
  const auto axis = static_cast<std::size_t>(draw(random, 0, std::ssize(shape) - 1));
  Dims sizes(static_cast<std::size_t>(draw(random, 1, 4)));
  shape[axis] = 0;
  for (std::int64_t& size : sizes) shape[axis] += size = draw(random, 1, 3);
  set.set("shape", shape);
  set.set("axis", static_cast<std::int64_t>(axis));
  set.set("sizes", sizes);
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::s8, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the indexes of all elements of the pieces, and compares with the whole.
TEST(Pieces, ValuesAndBytesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_pieces(random);
    const bool joins = problem.op->name == "concat";
    const auto inputs = op_test::random_inputs(problem, random());
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    const Dims& sizes = problem.parameters.numbers("sizes");
    ASSERT_EQ(problem.tensors.size(), sizes.size() + 1);
    const std::vector<double> whole =
        joins ? built_in_reference(problem, inputs, 0, {}) : inputs[0];
    std::int64_t before = 0;  // sizes of the pieces before this one
    for (std::size_t p = 0; p < sizes.size(); ++p) {
      const std::vector<double> piece =
          joins ? inputs[p] : built_in_reference(problem, inputs, p, {});
      Dims dims = shape;
      dims[axis] = sizes[p];
      EXPECT_EQ(problem.tensors[joins ? p : p + 1].dims, dims);
      for (std::size_t e = 0; e < piece.size(); ++e) {
        auto left = static_cast<std::int64_t>(e);
        std::int64_t position = 0, stride = 1;
        for (std::size_t d = dims.size(); d-- > 0;) {
          position += (left % dims[d] + (d == axis ? before : 0)) * stride;
          left /= dims[d];
          stride *= shape[d];
        }
        EXPECT_EQ(piece[e], whole[static_cast<std::size_t>(position)]);
      }
      before += sizes[p];
    }
    const auto elements = static_cast<std::int64_t>(whole.size());
    ASSERT_EQ(problem.work.flops, 0);
    ASSERT_EQ(problem.work.bytes_read, elements);
    ASSERT_EQ(problem.work.bytes_written, elements);
    ASSERT_FALSE(HasFailure()) << problem.op->name << " " << problem_tokens(problem);
  }
}

TEST(Pieces, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_pieces, 2, 3000);
}

TEST(Pieces, GoldenValues) {
  const Problem concat = op_test::problem("concat", "2x3-s1x2");
  const std::vector<std::vector<double>> inputs = {{1, 2}, {3, 4, 5, 6}};
  EXPECT_THAT(built_in_reference(concat, inputs, 0, {}), ElementsAre(1, 3, 4, 2, 5, 6));
  const Problem split = op_test::problem("split", "3x2-a0s2x1");
  const std::vector<std::vector<double>> source = {{1, 2, 3, 4, 5, 6}};
  EXPECT_THAT(built_in_reference(split, source, 0, {}), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(built_in_reference(split, source, 1, {}), ElementsAre(5, 6));
  EXPECT_EQ(split.tensors[2].name, "destination1");
}

TEST(Pieces, SizesMustAddUp) {
  const auto error = [](const char* tokens) {
    return op_test::try_problem("concat", tokens).error();
  };
  EXPECT_EQ(error("2x7-s3x3").where, "sizes");
  EXPECT_EQ(error("2x7-s3x3").what, "`sizes` 3x3 add up to 6, the axis 1 of the shape 2x7 has 7");
  EXPECT_EQ(error("2x7-a2s7").where, "axis");
  EXPECT_EQ(error("2x7").where, "sizes");
}

}  // namespace
}  // namespace bench::ops
