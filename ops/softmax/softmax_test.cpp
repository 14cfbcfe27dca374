// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("softmax");
  ParameterSet set(op.parameters);
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 6);
  set.set("shape", shape);
  if (draw(random, 0, 1) == 1) {
    set.set("axis", draw(random, 0, static_cast<std::int64_t>(shape.size()) - 1));
  }
  Result<Problem> made =
      make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set, .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Calls visit(elements of one row) for every row along the axis.
template <class Visit>
void for_each_row(const Problem& problem, Visit visit) {
  const Dims& shape = problem.parameters.numbers("shape");
  const auto axis = static_cast<std::size_t>(problem.parameters.count("axis"));
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) outer *= shape[i];
    if (i > axis) inner *= shape[i];
  }
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      std::vector<std::size_t> row;
      for (std::int64_t k = 0; k < shape[axis]; ++k) {
        row.push_back(static_cast<std::size_t>((o * shape[axis] + k) * inner + i));
      }
      visit(row);
    }
  }
}

TEST(Softmax, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = softmax_reference(problem, inputs, 0, {});
    std::int64_t flops = 0;
    std::int64_t exponentials = 0;
    std::int64_t elements = 0;
    for_each_row(problem, [&](const std::vector<std::size_t>& row) {
      double sum = 0;
      for (const std::size_t position : row) {
        flops += 3;  // comparison, subtraction, addition
        ++exponentials;
        sum += std::exp(inputs[0][position]);
      }
      for (const std::size_t position : row) {
        ++flops;  // division
        ++elements;
        EXPECT_NEAR(result[position], std::exp(inputs[0][position]) / sum, 1e-14);
      }
    });
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, exponentials);
    ASSERT_EQ(problem.work.bytes_read, 2 * elements);
    ASSERT_EQ(problem.work.bytes_written, 2 * elements);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Softmax, TokensComeBack) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    op_test::expect_round_trip(random_problem(random));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Softmax, PositionsAgreeWithTheWhole) {
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    op_test::expect_positions_agree(random_problem(random), random);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Softmax, LargeValuesDoNotOverflow) {
  const Problem problem = op_test::problem("softmax", "2-a0");
  const std::vector<std::vector<double>> inputs = {{1000, 1000}};
  EXPECT_THAT(softmax_reference(problem, inputs, 0, {}), ::testing::ElementsAre(0.5, 0.5));
}

TEST(Softmax, ExactWork) {
  const Problem problem = op_test::problem("softmax", "1x1000");
  EXPECT_EQ(problem_tokens(problem), "1x1000");
  EXPECT_EQ(problem_tokens(op_test::problem("softmax", "2x3-a0")), "2x3-a0");
  EXPECT_EQ(problem.work.flops, 4000);
  EXPECT_EQ(problem.work.sfu_ops, 1000);
  op_test::expect_bytes(problem, 8000);
}

// Results are about 1/size; a tolerance of that order would accept anything.
TEST(Softmax, ToleranceIsFarBelowTheResults) {
  for (const DataType dtype : {DataType::f32, DataType::f16, DataType::bf16}) {
    const Problem problem = op_test::problem("softmax", "1x1000", dtype);
    const Tolerance tolerance = problem.op->tolerance(problem);
    EXPECT_LT(tolerance.absolute + tolerance.relative / 1000, 0.02 / 1000);
  }
}

TEST(Softmax, UndefinedCombinationsAreNamed) {
  EXPECT_EQ(op_test::try_problem("softmax", "2x3-a2").error().where, "axis");
  EXPECT_EQ(op_test::try_problem("softmax", "2x3", DataType::s8).error().where, "dtype");
  EXPECT_EQ(op_test::try_problem("softmax", "2x3", DataType::f32, Direction::backward_weights)
                .error()
                .where,
            "direction");
  EXPECT_EQ(
      op_test::try_problem("softmax", "2x3", DataType::s8, Direction::backward_data).error().what,
      "backward_data of softmax is not defined for s8");
}

TEST(Softmax, TheLogarithmIsThatOfTheResults) {
  const Problem plain = op_test::problem("softmax", "3x5x4-a1", DataType::f64);
  const Problem logarithm = op_test::problem("softmax", "3x5x4-a1+log", DataType::f64);
  const auto inputs = op_test::random_inputs(plain, 1);
  const auto results = softmax_reference(plain, inputs, 0, {});
  const auto logarithms = softmax_reference(logarithm, inputs, 0, {});
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_NEAR(logarithms[i], std::log(results[i]), 1e-14);
  }
  EXPECT_EQ(logarithm.work, plain.work);
  op_test::expect_round_trip(logarithm);
}

// The gradient of sum(weights*softmax(x)) by central differences.
TEST(Softmax, GradientsEqualFiniteDifferences) {
  for (const char* tokens : {"2x7", "2x3x4-a1", "2x7+log", "4x3-a0+log"}) {
    const Problem forward = op_test::problem("softmax", tokens, DataType::f64);
    const Problem backward =
        op_test::problem("softmax", tokens, DataType::f64, Direction::backward_data);
    std::vector<std::vector<double>> source = op_test::random_inputs(forward, 1);
    const std::vector<double> weights = op_test::random_inputs(backward, 2)[1];
    const auto loss = [&] {
      const auto results = softmax_reference(forward, source, 0, {});
      double sum = 0;
      for (std::size_t i = 0; i < results.size(); ++i) sum += weights[i] * results[i];
      return sum;
    };
    const std::vector<std::vector<double>> inputs = {softmax_reference(forward, source, 0, {}),
                                                     weights};
    const auto gradient = softmax_reference(backward, inputs, 0, {});
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      constexpr double kStep = 1e-5;
      const double x = source[0][i];
      source[0][i] = x + kStep;
      const double above = loss();
      source[0][i] = x - kStep;
      EXPECT_NEAR(gradient[i], (above - loss()) / (2 * kStep), 1e-9) << tokens << " at " << i;
      source[0][i] = x;
    }
  }
}

TEST(Softmax, ExactWorkOfGradients) {
  const auto work = [](const char* tokens) {
    return op_test::problem("softmax", tokens, DataType::f32, Direction::backward_data).work;
  };
  EXPECT_EQ(work("16x100").flops, 6400);
  EXPECT_EQ(work("16x100").sfu_ops, 0);
  EXPECT_EQ(work("16x100").bytes_read, 2 * 6400);
  EXPECT_EQ(work("16x100+log").flops, 4800);
  EXPECT_EQ(work("16x100+log").sfu_ops, 1600);
  EXPECT_EQ(work("16x100+log").bytes_written, 6400);
}

}  // namespace
}  // namespace bench::ops
