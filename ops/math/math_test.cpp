// SPDX-License-Identifier: Apache-2.0
#include "ops/math/functions.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_math(Random& random) {
  const Operator& op = *find_operator("math");
  const auto functions = math_functions();
  for (;;) {
    const MathFunction& function =
        functions[static_cast<std::size_t>(draw(random, 0, std::ssize(functions) - 1))];
    ParameterSet set(op.parameters);
    set.set("function", std::string(function.name));
    Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
    for (std::int64_t& size : shape) size = draw(random, 1, 6);
    set.set("shape", shape);
    if (function.alpha && draw(random, 0, 1) == 1) {
      set.set("alpha", static_cast<double>(draw(random, 1, 24)) / 8);
    }
    const bool is_backward = function.backward && draw(random, 0, 1) == 1;
    Result<Problem> made =
        make_problem({.op = &op,
                      .direction = is_backward ? Direction::backward_data : Direction::forward,
                      .dtype = function.types == MathTypes::integers ? DataType::u8 : DataType::f16,
                      .parameters = set});
    if (!made.ok()) ADD_FAILURE() << made.error().message();
    return std::move(made).value();
  }
}

TEST(Math, WorkEqualsALoop) {
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const Problem problem = random_math(random);
    const MathFunction& function = *find_math_function(problem.parameters.word("function"));
    const bool is_backward = problem.direction != Direction::forward;
    const MathWork each = is_backward ? *function.backward : function.forward;
    std::int64_t elements = 1, flops = 0, special = 0;
    for (const std::int64_t size : problem.parameters.numbers("shape")) elements *= size;
    for (std::int64_t e = 0; e < elements; ++e) flops += each.flops, special += each.sfu_ops;
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, special) << problem_tokens(problem);
    const std::int64_t bytes = elements * info(problem.dtype).bytes;
    ASSERT_EQ(problem.work.bytes_read, bytes * (function.operands + (is_backward ? 1 : 0)));
    ASSERT_EQ(problem.work.bytes_written, bytes * (is_backward ? gradient_operands(function) : 1));
  }
}

TEST(Math, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_math, 2, 3000);
}

// Central differences at inputs as cases have them, away from steps.
TEST(Math, SlopesEqualDifferences) {
  Random random(3);
  for (const MathFunction& function : math_functions()) {
    ASSERT_EQ(function.backward.has_value(), function.slopes != nullptr) << function.name;
    if (!function.backward) continue;
    for (int i = 0; i < 200; ++i) {
      std::array<double, 3> x{};
      for (std::size_t k = 0; k < 3; ++k) {
        const MathRange range = function.ranges[k];
        const double unit = static_cast<double>(draw(random, 1, 9999)) / 10000;
        x[k] = range.low + unit * (range.high - range.low);
      }
      const auto value = [&](const std::array<double, 3>& at) {
        return function.value({at[0], at[1], at[2], function.alpha.value_or(0)});
      };
      const MathSlopes slopes = function.slopes({x[0], x[1], x[2], function.alpha.value_or(0)});
      for (std::size_t k = 0; k < static_cast<std::size_t>(gradient_operands(function)); ++k) {
        constexpr double kStep = 1e-6;
        auto low = x, high = x;
        low[k] -= kStep, high[k] += kStep;
        const double difference = (value(high) - value(low)) / (2 * kStep);
        if (std::abs(difference) > 1e4) continue;  // a step of mod, fmod or frac
        EXPECT_NEAR(slopes[k], difference, 1e-6 * (1 + std::abs(difference)) + 1e-7)
            << function.name << " by operand " << k << " at " << x[0] << " " << x[1];
      }
    }
  }
}

double value_of(std::string_view name, double a, double b = 0, double c = 0) {
  const MathFunction& function = *find_math_function(name);
  return function.value({a, b, c, function.alpha.value_or(0)});
}

TEST(Math, PublishedValues) {
  EXPECT_NEAR(value_of("softplus", 0), std::numbers::ln2, 1e-15);
  EXPECT_NEAR(value_of("mish", 1), 0.8650983882673103, 1e-15);
  EXPECT_NEAR(value_of("selu", -1), -1.1113307378125625, 1e-15);
  EXPECT_NEAR(value_of("log_sigmoid", 1), -0.31326168751822286, 1e-15);
  EXPECT_NEAR(value_of("softsign", -3), -0.75, 1e-15);
  EXPECT_NEAR(value_of("erfinv", 0.5), 0.4769362762044699, 1e-15);
  EXPECT_NEAR(value_of("digamma", 1), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(value_of("digamma", 2.5), 0.7031566406452432, 1e-14);
  EXPECT_NEAR(value_of("lgamma", 5), std::log(24), 1e-14);
  EXPECT_NEAR(value_of("gamma", 5), 24, 1e-12);
  EXPECT_DOUBLE_EQ(value_of("power", 2), 8);
  EXPECT_DOUBLE_EQ(value_of("round", 2.5), 2);  // halves to even, as oneDNN and PyTorch
  EXPECT_DOUBLE_EQ(value_of("mod", -7, 3), 2);
  EXPECT_DOUBLE_EQ(value_of("fmod", -7, 3), -1);
  EXPECT_DOUBLE_EQ(value_of("floor_div", -7, 3), -3);
  EXPECT_DOUBLE_EQ(value_of("logaddexp", 0, 0), std::numbers::ln2);
  EXPECT_DOUBLE_EQ(value_of("lerp", 2, 4, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(value_of("addcmul", 1, 2, 3), 7);
  EXPECT_DOUBLE_EQ(value_of("addcdiv", 1, 3, 2), 2.5);
  EXPECT_DOUBLE_EQ(value_of("select", 1, 2, 0), 2);
  EXPECT_DOUBLE_EQ(value_of("clamp", 5, 1, 3), 3);
  EXPECT_DOUBLE_EQ(value_of("bit_xor", 6, 3), 5);
}

TEST(Math, WhatAFunctionHasNotIsNamed) {
  const auto where = [](const char* tokens, DataType dtype, Direction direction) {
    const auto problem = op_test::try_problem("math", tokens, dtype, direction);
    return problem.ok() ? "accepted" : problem.error().where;
  };
  constexpr Direction kForward = Direction::forward, kBackward = Direction::backward_data;
  EXPECT_EQ(where("sin-8", DataType::s8, kForward), "dtype");
  EXPECT_EQ(where("bit_and-8", DataType::f32, kForward), "dtype");
  EXPECT_EQ(where("ge-8", DataType::f32, kBackward), "direction");
  EXPECT_EQ(where("select-8", DataType::s8, kBackward), "dtype");
  EXPECT_EQ(where("sin-8-alpha2", DataType::f32, kForward), "alpha");
  EXPECT_EQ(where("ge-8", DataType::s8, kForward), "accepted");
}

}  // namespace
}  // namespace bench::ops
