// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_swiglu(Random& random) {
  const Operator& op = *find_operator("swiglu");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 5);
  set.set("shape", shape);
  const auto direction = draw(random, 0, 1) == 1 ? Direction::backward_data : Direction::forward;
  Result<Problem> made =
      make_problem({.op = &op, .direction = direction, .dtype = DataType::f16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// An independent evaluation: the swish by the hyperbolic tangent.
double swiglu(double gate, double up) { return 0.5 * gate * (1 + std::tanh(gate / 2)) * up; }

TEST(Swiglu, WorkAndValuesEqualALoop) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_swiglu(random);
    const bool backward = problem.direction == Direction::backward_data;
    const auto inputs = op_test::random_inputs(problem, random());
    const auto first = built_in_reference(problem, inputs, 0, {});
    const auto second = backward ? built_in_reference(problem, inputs, 1, {}) : first;
    std::int64_t elements = 1;
    for (const std::int64_t size : problem.parameters.numbers("shape")) elements *= size;
    for (std::size_t e = 0; e < static_cast<std::size_t>(elements); ++e) {
      const double gate = inputs[0][e], up = inputs[1][e];
      if (!backward) {
        EXPECT_NEAR(first[e], swiglu(gate, up), 1e-14);
        continue;
      }
      // Central differences.
      constexpr double kStep = 1e-5;
      const double by_gate = (swiglu(gate + kStep, up) - swiglu(gate - kStep, up)) / (2 * kStep);
      const double by_up = (swiglu(gate, up + kStep) - swiglu(gate, up - kStep)) / (2 * kStep);
      EXPECT_NEAR(first[e], inputs[2][e] * by_gate, 1e-9);
      EXPECT_NEAR(second[e], inputs[2][e] * by_up, 1e-9);
    }
    ASSERT_EQ(problem.work.flops, (backward ? 9 : 4) * elements) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, elements);
    ASSERT_EQ(problem.work.bytes_read, 2 * (backward ? 3 : 2) * elements);
    ASSERT_EQ(problem.work.bytes_written, 2 * (backward ? 2 : 1) * elements);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Swiglu, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_swiglu, 2, 3000);
}

// swish(1) = 0.7310585786300049, and the derivative of swish at 1 is 0.9276705118714867.
TEST(Swiglu, GoldenValues) {
  const Problem forward = op_test::problem("swiglu", "2");
  const std::vector<std::vector<double>> inputs = {{1, 0}, {3, 5}, {2, 4}};
  const auto values = built_in_reference(forward, inputs, 0, {});
  EXPECT_NEAR(values[0], 3 * 0.7310585786300049, 1e-15);
  EXPECT_EQ(values[1], 0);
  const Problem backward = op_test::problem("swiglu", "2", DataType::f32, Direction::backward_data);
  const auto gate = built_in_reference(backward, inputs, 0, {});
  EXPECT_NEAR(gate[0], 2 * 3 * 0.9276705118714867, 1e-14);
  EXPECT_EQ(gate[1], 4 * 5 * 0.5);
  const auto up = built_in_reference(backward, inputs, 1, {});
  EXPECT_NEAR(up[0], 2 * 0.7310585786300049, 1e-15);
  EXPECT_EQ(up[1], 0);
  const Problem llama = op_test::problem("swiglu", "512x14336", DataType::bf16);
  EXPECT_EQ(llama.work.flops, 4 * 512 * 14336);
  op_test::expect_bytes(llama, 3 * 2 * 512 * 14336);
}

TEST(Swiglu, IsUndefinedForIntegers) {
  EXPECT_EQ(op_test::try_problem("swiglu", "8", DataType::s8).error().where, "dtype");
}

}  // namespace
}  // namespace bench::ops
