// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("rope");
  ParameterSet set(op.parameters);
  set.set("batch", draw(random, 1, 3));
  set.set("heads", draw(random, 1, 3));
  set.set("seq", draw(random, 1, 5));
  set.set("head_dim", 2 * draw(random, 1, 5));
  const auto direction = draw(random, 0, 1) == 1 ? Direction::forward : Direction::backward_data;
  Result<Problem> made =
      make_problem({.op = &op, .direction = direction, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Multiplies complex numbers, pair by pair, and counts what a multiplication takes.
TEST(Rope, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const ParameterSet& set = problem.parameters;
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const auto half = static_cast<std::size_t>(set.count("head_dim") / 2);
    const auto seq = static_cast<std::size_t>(set.count("seq"));
    const auto heads = static_cast<std::size_t>(set.count("batch") * set.count("heads"));
    std::int64_t flops = 0;
    for (std::size_t head = 0; head < heads; ++head) {
      for (std::size_t s = 0; s < seq; ++s) {
        for (std::size_t j = 0; j < half; ++j) {
          const std::size_t first = (head * seq + s) * 2 * half + j;
          const std::complex<double> point(inputs[0][first], inputs[0][first + half]);
          std::complex<double> turn(inputs[1][s * half + j], inputs[2][s * half + j]);
          if (problem.direction == Direction::backward_data) turn = std::conj(turn);
          const std::complex<double> want = point * turn;
          flops += 6;  // four products, two sums
          EXPECT_NEAR(result[first], want.real(), 1e-12);
          EXPECT_NEAR(result[first + half], want.imag(), 1e-12);
        }
      }
    }
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    const auto elements = static_cast<std::int64_t>(heads * seq * 2 * half);
    op_test::expect_bytes(problem, 2 * (2 * elements + static_cast<std::int64_t>(2 * seq * half)));
    ASSERT_FALSE(::testing::Test::HasFailure()) << problem_tokens(problem);
  }
}

TEST(Rope, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

// The directional derivative of a linear function is the function itself.
TEST(Rope, GradientEqualsDifferences) {
  const Problem forward = op_test::problem("rope", "b2h2s3d4", DataType::f64);
  const Problem backward =
      op_test::problem("rope", "b2h2s3d4", DataType::f64, Direction::backward_data);
  auto inputs = op_test::random_inputs(forward, 3);
  const auto weights = op_test::random_inputs(backward, 4)[0];
  const auto loss = [&] {
    double sum = 0;
    const auto result = built_in_reference(forward, inputs, 0, {});
    for (std::size_t i = 0; i < result.size(); ++i) sum += weights[i] * result[i];
    return sum;
  };
  const std::vector<std::vector<double>> backward_inputs = {weights, inputs[1], inputs[2]};
  const auto gradient = built_in_reference(backward, backward_inputs, 0, {});
  constexpr double kStep = 1e-3;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double x = inputs[0][i];
    inputs[0][i] = x + kStep;
    const double above = loss();
    inputs[0][i] = x - kStep;
    const double below = loss();
    inputs[0][i] = x;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-9) << i;
  }
}

TEST(Rope, GoldenValues) {
  const Problem problem = op_test::problem("rope", "h1s2d4");
  // Position 0 is not rotated; position 1 is rotated by a quarter and by half a turn.
  const std::vector<std::vector<double>> inputs = {
      {1, 2, 3, 4, 1, 2, 3, 4}, {1, 1, 0, -1}, {0, 0, 1, 0}};
  EXPECT_THAT(built_in_reference(problem, inputs, 0, {}),
              ::testing::ElementsAre(1, 2, 3, 4, -3, -2, 1, -4));
  const Problem llama = op_test::problem("rope", "h32s512d128", DataType::bf16);
  EXPECT_EQ(llama.work.flops, 3 * 32 * 512 * 128);
  op_test::expect_bytes(llama, 2 * (2 * 32 * 512 * 128 + 2 * 512 * 64));
  const auto odd = op_test::try_problem("rope", "h1s2d5");
  ASSERT_FALSE(odd.ok());
  EXPECT_EQ(odd.error().what, "`head_dim` is 5, which does not consist of two halves");
}

}  // namespace
}  // namespace bench::ops
