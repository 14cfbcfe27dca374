// SPDX-License-Identifier: Apache-2.0
#include "ops/optimizer/optimizer.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("optimizer");
  ParameterSet set(op.parameters);
  const auto words = find_parameter(op.parameters, "function")->words;
  const std::string function(words[static_cast<std::size_t>(draw(random, 0, 2))]);
  set.set("function", function);
  set.set("elements", draw(random, 1, 20));
  if (function == "sgd" && draw(random, 0, 1) == 1) set.set("momentum", 0.75);
  if (function != "adamw" && draw(random, 0, 1) == 1) set.set("weight_decay", true);
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::bf16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// One element after PyTorch's documentation, in its own order of operations.
struct Counted {
  std::vector<double> results;
  std::int64_t flops = 0, roots = 0;
};
Counted step_once(const Problem& problem, const std::vector<std::vector<double>>& inputs,
                  std::size_t i) {
  const std::string& function = problem.parameters.word("function");
  constexpr double kRate = 0.1, kDecay = 0.01, kBeta1 = 0.9, kBeta2 = 0.999;
  double p = inputs[0][i], g = inputs[1][i];
  Counted counted;
  if (problem.parameters.flag("weight_decay")) g += kDecay * p, counted.flops += 2;
  if (function == "sgd") {
    const double momentum = problem.parameters.real("momentum");
    if (momentum > 0) g = momentum * inputs[2][i] + g, counted.flops += 2;
    counted.results = {p - kRate * g};
    if (momentum > 0) counted.results.push_back(g);
    counted.flops += 2;
    return counted;
  }
  if (function == "adamw") p *= 1 - kRate * kDecay, ++counted.flops;
  const double m = inputs[2][i] + (g - inputs[2][i]) * (1 - kBeta1);
  const double v = kBeta2 * inputs[3][i] + (1 - kBeta2) * g * g;
  const double corrected = v / (1 - std::pow(kBeta2, 1000));
  counted.results = {p - kRate * m / (std::sqrt(corrected) + 1e-8), m, v};
  counted.flops += 12;
  counted.roots = 1;
  return counted;
}

TEST(Optimizer, WorkAndValuesEqualTheRules) {
  Random random(1);
  for (int n = 0; n < 10000; ++n) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const auto elements = static_cast<std::size_t>(problem.parameters.count("elements"));
    std::int64_t flops = 0, roots = 0;
    std::size_t outputs = 0;
    std::vector<std::vector<double>> results;
    for (std::size_t k = 0; k + inputs.size() < problem.tensors.size(); ++k) {
      results.push_back(built_in_reference(problem, inputs, k, {}));
    }
    for (std::size_t i = 0; i < elements; ++i) {
      const Counted counted = step_once(problem, inputs, i);
      outputs = counted.results.size();
      ASSERT_EQ(results.size(), outputs);
      for (std::size_t k = 0; k < outputs; ++k) {
        EXPECT_NEAR(results[k][i], counted.results[k], 1e-9);
      }
      flops += counted.flops, roots += counted.roots;
    }
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, roots) << problem_tokens(problem);
    // Everything is read, and all but the gradient is written.
    ASSERT_EQ(inputs.size(), outputs + 1);
    const auto bytes = static_cast<std::int64_t>(2 * elements);
    ASSERT_EQ(problem.work.bytes_read, bytes * std::ssize(inputs));
    ASSERT_EQ(problem.work.bytes_written, bytes * std::ssize(results));
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Optimizer, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

TEST(Optimizer, GoldenValues) {
  // Values per element: 3, with momentum 5, with moments 7.
  op_test::expect_bytes(op_test::problem("optimizer", "sgd-e1000"), 3 * 4000);
  op_test::expect_bytes(op_test::problem("optimizer", "sgd-e1000m0.9"), 5 * 4000);
  op_test::expect_bytes(op_test::problem("optimizer", "adamw-e1000"), 7 * 4000);
  const Problem sgd = op_test::problem("optimizer", "sgd-e2m0.5");
  const std::vector<std::vector<double>> inputs = {{1, 2}, {10, 20}, {4, -8}};
  EXPECT_NEAR(built_in_reference(sgd, inputs, 0, {})[0], 1 - 0.1 * 12, 1e-15);
  EXPECT_NEAR(built_in_reference(sgd, inputs, 1, {})[1], 16, 1e-15);
  EXPECT_EQ(sgd.formulas[0].expression, "4*elements");
  EXPECT_EQ(op_test::problem("optimizer", "adamw-e10").work.flops, 130);
  EXPECT_EQ(op_test::problem("optimizer", "adam-e10+decay").work.flops, 140);
}

TEST(Optimizer, ParametersOfOtherFunctionsAreErrors) {
  const auto error = [](const char* tokens) {
    const auto made = op_test::try_problem("optimizer", tokens);
    return made.ok() ? "" : made.error().what;
  };
  EXPECT_EQ(error("adam-e10m0.9"), "adam takes no `momentum`");
  EXPECT_EQ(error("sgd-e10m-0.5"), "`momentum` is negative, expected 0 or more");
  EXPECT_EQ(error("adamw-e10+decay"), "adamw has its own decay and takes no `weight_decay`");
}

}  // namespace
}  // namespace bench::ops
