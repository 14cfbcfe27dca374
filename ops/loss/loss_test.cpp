// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("loss");
  ParameterSet set(op.parameters);
  set.set("function", std::string("softmax_cross_entropy"));
  set.set("batch", draw(random, 1, 5));
  set.set("classes", draw(random, 1, 9));
  const bool is_forward = draw(random, 0, 1) == 1;
  Result<Problem> made =
      make_problem({.op = &op,
                    .direction = is_forward ? Direction::forward : Direction::backward_data,
                    .dtype = DataType::f16,
                    .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Evaluates the textbook formulas, without a maximum, and counts the operations of the one with a
// maximum.
TEST(Loss, WorkAndValuesEqualTheDefinition) {
  Random random(1);
  for (int n = 0; n < 10000; ++n) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const auto batch = static_cast<std::size_t>(problem.parameters.count("batch"));
    const auto classes = static_cast<std::size_t>(problem.parameters.count("classes"));
    const bool is_forward = problem.direction == Direction::forward;
    std::int64_t flops = 0, special = 0;
    for (std::size_t row = 0; row < batch; ++row) {
      const auto label = static_cast<std::size_t>(inputs[1][row]);
      ASSERT_LT(label, classes);
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        sum += std::exp(inputs[0][row * classes + k]);
        flops += 3;  // comparison, difference, sum
        ++special;
      }
      if (is_forward) {
        EXPECT_NEAR(result[row], -std::log(std::exp(inputs[0][row * classes + label]) / sum),
                    1e-12);
        flops += 2, ++special;
        continue;
      }
      flops += 2;
      for (std::size_t k = 0; k < classes; ++k) {
        const double y = std::exp(inputs[0][row * classes + k]) / sum;
        EXPECT_NEAR(result[row * classes + k], (k == label ? y - 1 : y) * inputs[2][row], 1e-12);
        ++flops;
      }
    }
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, special) << problem_tokens(problem);
    const std::size_t vectors = is_forward ? 0 : 1;
    ASSERT_EQ(problem.work.bytes_read,
              static_cast<std::int64_t>(2 * batch * (classes + vectors) + 4 * batch));
    ASSERT_EQ(problem.work.bytes_written, 2 * std::ssize(result));
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Loss, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

TEST(Loss, TheGradientIsThatOfFiniteDifferences) {
  const char* tokens = "softmax_cross_entropy-b3c7";
  const Problem forward = op_test::problem("loss", tokens, DataType::f64);
  const Problem backward =
      op_test::problem("loss", tokens, DataType::f64, Direction::backward_data);
  const auto inputs = op_test::random_inputs(backward, 5);
  const std::vector<double> gradient = built_in_reference(backward, inputs, 0, {});
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto loss = [&](double step) {
      std::vector<std::vector<double>> moved = {inputs[0], inputs[1]};
      moved[0][i] += step;
      const std::vector<double> losses = built_in_reference(forward, moved, 0, {});
      double sum = 0;
      for (std::size_t row = 0; row < losses.size(); ++row) sum += losses[row] * inputs[2][row];
      return sum;
    };
    EXPECT_NEAR(gradient[i], (loss(kStep) - loss(-kStep)) / (2 * kStep), 1e-8) << i;
  }
}

TEST(Loss, GoldenValues) {
  const Problem forward = op_test::problem("loss", "softmax_cross_entropy-b2c2");
  const std::vector<std::vector<double>> inputs = {{0, std::log(3), 5, 5}, {0, 1}, {2, -4}};
  const auto losses = built_in_reference(forward, {inputs.data(), 2}, 0, {});
  EXPECT_NEAR(losses[0], std::log(4), 1e-15);
  EXPECT_NEAR(losses[1], std::log(2), 1e-15);
  const Problem backward = op_test::problem("loss", "softmax_cross_entropy-b2c2", DataType::f32,
                                            Direction::backward_data);
  const auto gradient = built_in_reference(backward, inputs, 0, {});
  EXPECT_NEAR(gradient[0], 2 * (0.25 - 1), 1e-15);
  EXPECT_NEAR(gradient[1], 2 * 0.75, 1e-15);
  EXPECT_NEAR(gradient[2], -2, 1e-15);
  EXPECT_NEAR(gradient[3], 2, 1e-15);
  // GPT-2: one sequence of 1024 words.
  const Problem words = op_test::problem("loss", "softmax_cross_entropy-b1024c50257");
  EXPECT_EQ(words.work.flops, 1024LL * (3 * 50257 + 2));
  op_test::expect_bytes(words, 4LL * 1024 * (50257 + 2));
}

TEST(Loss, CallsOfPyTorchHaveWork) {
  using Shapes = std::vector<FrameworkRange::Shape>;
  const auto work = [](const Shapes& inputs) {
    return compute_framework_work({.name = "aten::cross_entropy_loss", .inputs = &inputs},
                                  std::nullopt);
  };
  EXPECT_EQ(work({{1024, 50257}, {1024}, {}, {}, {}, {}})->flops, 1024LL * (3 * 50257 + 2));
  EXPECT_FALSE(work({{1024, 50257}, {1023}, {}, {}}).has_value());
  EXPECT_FALSE(work({{4, 10, 8}, {4, 8}, {}, {}}).has_value());  // classes of images
}

}  // namespace
}  // namespace bench::ops
