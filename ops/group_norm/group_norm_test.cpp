// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

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
