// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("gather");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 6);
  set.set("shape", shape);
  set.set("axis", draw(random, 0, std::ssize(shape) - 1));
  set.set("indices", draw(random, 1, 8));
  const DataType dtype = draw(random, 0, 1) == 1 ? DataType::f16 : DataType::u8;
  Result<Problem> made = make_problem({.op = &op, .dtype = dtype, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over the coordinates of the result, and collects the elements that it reads.
TEST(Gather, WorkAndValuesEqualAWalkOverTheResult) {
  Random random(1);
  for (int n = 0; n < 10000; ++n) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const Dims& shape = problem.parameters.numbers("shape");
    const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
    Dims sizes = shape;
    sizes[axis] = problem.parameters.count("indices");
    ASSERT_EQ(problem.tensors.back().dims, sizes);
    std::set<std::size_t> read;
    Dims at(shape.size(), 0);
    for (const double value : result) {
      std::size_t from = 0;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        const double slice =
            d == axis ? inputs[1][static_cast<std::size_t>(at[d])] : static_cast<double>(at[d]);
        from = from * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(slice);
      }
      ASSERT_EQ(value, inputs[0][from]) << problem_tokens(problem);
      read.insert(from);
      for (std::size_t d = shape.size(); d-- > 0 && ++at[d] == sizes[d];) at[d] = 0;
    }
    const std::int64_t bytes = info(problem.dtype).bytes;
    ASSERT_EQ(problem.work.flops, 0);
    ASSERT_EQ(problem.work.bytes_read, std::ssize(read) * bytes + 4 * std::ssize(inputs[1]));
    ASSERT_EQ(problem.work.bytes_written, std::ssize(result) * bytes);
  }
}

TEST(Gather, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

TEST(Gather, GoldenValues) {
  const std::vector<std::vector<double>> inputs = {{1, 2, 3, 4, 5, 6}, {2, 0}};
  EXPECT_THAT(built_in_reference(op_test::problem("gather", "2x3-i2"), inputs, 0, {}),
              ElementsAre(3, 1, 6, 4));
  EXPECT_THAT(built_in_reference(op_test::problem("gather", "3x2-a0i2"), inputs, 0, {}),
              ElementsAre(5, 6, 1, 2));
  const Problem half = op_test::problem("gather", "4x10x6-a1i5");
  op_test::expect_bytes(half, 4 * (2 * 4 * 5 * 6 + 5));
  EXPECT_EQ(half.formulas[0].name, "slices_read");
  EXPECT_EQ(half.formulas[0].result, 5);
  EXPECT_FALSE(op_test::try_problem("gather", "4x10-a2i5").ok());
  const auto too_many = op_test::try_problem("gather", "2147483648-i1");
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.error().what,
            "axis 0 of `shape` has 2147483648 slices, indices (s32) name 2147483647 at most");
}

TEST(Gather, CallsOfPyTorchHaveWork) {
  using Shapes = std::vector<FrameworkRange::Shape>;
  const auto parameters = [](const Shapes& inputs, const FrameworkRange::Shape* output) {
    const auto work = compute_framework_work(
        {.name = "aten::index_select", .inputs = &inputs, .output = output}, std::nullopt);
    return work ? work->parameters : "";
  };
  const FrameworkRange::Shape narrow = {4, 5, 6}, same = {4, 10, 6}, other = {3, 5, 6};
  EXPECT_EQ(parameters({{4, 10, 6}, {}, {5}}, &narrow), "4x10x6-a1i5");
  EXPECT_EQ(parameters({{4, 10, 6}, {}, {10}}, &same), "4x10x6-a1i10");
  EXPECT_EQ(parameters({{4, 10, 6}, {}, {5}}, &other), "");
  EXPECT_EQ(parameters({{4, 10, 6}, {}, {5}}, nullptr), "");
  EXPECT_EQ(parameters({{40}, {}, {5}}, nullptr), "40-i5");
}

}  // namespace
}  // namespace bench::ops
