// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/group_norm.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("group_norm");
  ParameterSet set(op.parameters);
  const std::int64_t groups = draw(random, 1, 4);
  set.set("n", draw(random, 1, 3));
  set.set("groups", groups);
  set.set("c", groups * draw(random, 1, 3));
  set.set("h", draw(random, 1, 4));
  set.set("w", draw(random, 1, 4));
  if (draw(random, 0, 1) == 1) set.set("epsilon", 0.125);
  for (const char* name : {"scale", "shift"}) set.set(name, draw(random, 0, 1) == 1);
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Walks over images, groups, channels and positions, and counts what it does.
TEST(GroupNorm, WorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const ParameterSet& set = problem.parameters;
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const std::int64_t volume = set.count("h") * set.count("w");
    const std::int64_t channels = set.count("c") / set.count("groups");
    std::int64_t flops = 0, elements = 0;
    for (std::int64_t image = 0; image < set.count("n"); ++image) {
      for (std::int64_t group = 0; group < set.count("groups"); ++group) {
        const auto visit = [&](auto action) {
          for (std::int64_t c = group * channels; c < (group + 1) * channels; ++c) {
            for (std::int64_t position = 0; position < volume; ++position) {
              action(static_cast<std::size_t>((image * set.count("c") + c) * volume + position),
                     static_cast<std::size_t>(c));
            }
          }
        };
        double sum = 0, squares = 0;
        visit([&](std::size_t at, std::size_t) {
          sum += inputs[0][at];
          squares += inputs[0][at] * inputs[0][at];
          flops += 4;  // sum; difference, square, sum: the variance by differences
          ++elements;
        });
        const auto size = static_cast<double>(channels * volume);
        const double variance = squares / size - sum / size * (sum / size);
        visit([&](std::size_t at, std::size_t c) {
          double want = (inputs[0][at] - sum / size) / std::sqrt(variance + set.real("epsilon"));
          flops += 2;
          if (set.flag("scale")) want *= inputs[1][c], ++flops;
          if (set.flag("shift")) want += inputs[set.flag("scale") ? 2 : 1][c], ++flops;
          EXPECT_NEAR(result[at], want, 1e-8);
        });
      }
    }
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 2 * elements);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(GroupNorm, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

// Compares the gradients with differences of a random sum of the results, whose statistics are
// those that the forward pass of training writes.
void expect_gradients_equal_differences(const std::string& tokens) {
  const Problem forward = op_test::problem("group_norm", "training-" + tokens, DataType::f64);
  const Problem backward =
      op_test::problem("group_norm", tokens, DataType::f64, Direction::backward_weights);
  auto inputs = op_test::random_inputs(forward, 5);
  std::map<std::string, std::vector<double>> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values[forward.tensors[i].name] = inputs[i];
  values["mean"] = built_in_reference(forward, inputs, 1, {});
  values["variance"] = built_in_reference(forward, inputs, 2, {});
  std::vector<std::vector<double>> given = op_test::random_inputs(backward, 6);
  const std::vector<double> factors = given.back();
  for (std::size_t i = 0; i + 1 < given.size(); ++i) given[i] = values.at(backward.tensors[i].name);
  const auto loss = [&] {
    const std::vector<double> result = built_in_reference(forward, inputs, 0, {});
    double sum = 0;
    for (std::size_t i = 0; i < result.size(); ++i) sum += factors[i] * result[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (std::size_t tensor = 0; tensor < inputs.size(); ++tensor) {
    ASSERT_EQ(backward.output(tensor).name, "diff_" + forward.tensors[tensor].name);
    const std::vector<double> gradient = built_in_reference(backward, given, tensor, {});
    ASSERT_EQ(gradient.size(), inputs[tensor].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double x = inputs[tensor][i];
      inputs[tensor][i] = x + kStep;
      const double above = loss();
      inputs[tensor][i] = x - kStep;
      const double below = loss();
      inputs[tensor][i] = x;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6 * (1 + std::abs(gradient[i])))
          << tokens << ": " << forward.tensors[tensor].name << " " << i;
    }
  }
}

TEST(GroupNorm, GradientsEqualDifferences) {
  for (const char* tokens : {"n2c6h3w2g3eps0.125", "c4w5g1eps0.125", "n3c4h2g4eps0.125+noscale",
                             "n2c8d2h3w1g2eps0.125+noshift", "n2c3h2g3eps0.125+noscale+noshift"}) {
    expect_gradients_equal_differences(tokens);
  }
}

TEST(GroupNorm, GradientsHaveExactWork) {
  constexpr std::int64_t kElements = std::int64_t{2} * 32 * 56 * 56;
  const Problem weights =
      op_test::problem("group_norm", "n2c32h56g8", DataType::f32, Direction::backward_weights);
  EXPECT_EQ(weights.work.flops, 13 * kElements);
  op_test::expect_bytes(weights, 4 * (3 * kElements + 2 * 2 * 8 + 3 * 32));
  const Problem data =
      op_test::problem("group_norm", "n2c32h56g8", DataType::f32, Direction::backward_data);
  EXPECT_EQ(data.work.flops, 10 * kElements);
  const Problem training = op_test::problem("group_norm", "training-n2c32h56g8");
  EXPECT_EQ(training.work.flops, 8 * kElements);
  op_test::expect_bytes(training, 4 * (2 * kElements + 2 * 2 * 8 + 2 * 32));
}

TEST(GroupNorm, GoldenValues) {
  const Problem problem = op_test::problem("group_norm", "n2c32h56g8");
  EXPECT_EQ(problem_tokens(problem), "n2c32h56w56g8");
  EXPECT_EQ(problem.work.flops, 8 * 2 * 32 * 56 * 56);
  op_test::expect_bytes(problem, 4 * (2 * 2 * 32 * 56 * 56 + 2 * 32));
  const auto uneven = op_test::try_problem("group_norm", "c10h4g3");
  ASSERT_FALSE(uneven.ok());
  EXPECT_EQ(uneven.error().what, "`groups` is 3, which does not divide 10 channels");
}

}  // namespace
}  // namespace bench::ops
