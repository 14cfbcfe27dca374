// SPDX-License-Identifier: Apache-2.0
#include "ops/reorder/reorder.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace bench::ops
