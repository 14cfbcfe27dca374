// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"
#include "ops/verbose.hpp"
#include "profiler/onednn/verbose_activity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("reduction");
  ParameterSet set(op.parameters);
  const auto words = find_parameter(op.parameters, "function")->words;
  set.set("function",
          std::string(words[static_cast<std::size_t>(draw(random, 0, std::ssize(words) - 1))]));
  Dims shape(static_cast<std::size_t>(draw(random, 1, 5)));
  for (std::int64_t& size : shape) size = draw(random, 1, 5);
  Dims axes;
  for (std::int64_t axis = 0; axis < std::ssize(shape); ++axis) {
    if (draw(random, 0, 1) == 1) axes.push_back(axis);
  }
  set.set("shape", shape);
  if (!axes.empty()) set.set("axis", axes);
  Result<Problem> made = make_problem({.op = &op, .dtype = DataType::f16, .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Visits the source in order and adds each element to the output that its index, without the
// reduced axes, belongs to.
TEST(Reduction, WorkAndValuesEqualALoopOverTheSource) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::string& function = problem.parameters.word("function");
    const Dims& shape = problem.parameters.numbers("shape");
    const Dims& axes = problem.parameters.numbers("axis");
    std::map<Dims, std::vector<double>> groups;  // in row-major order of the outputs
    Dims index(shape.size(), 0);
    for (const double x : inputs[0]) {
      Dims kept = index;
      for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 0;
      groups[kept].push_back(x);
      for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
    std::int64_t flops = 0, roots = 0;
    std::vector<double> want;
    for (const auto& [kept, group] : groups) {
      double sum = 0, product = 1, magnitude = 0, squares = 0;
      for (const double x : group) {
        sum += x, product *= x, magnitude += std::abs(x), squares += x * x;
      }
      const auto count = std::ssize(group);
      const bool is_norm = function == "l1" || function == "l2";
      flops += count - 1 + (function == "mean" ? 1 : 0) + (is_norm ? count : 0);
      roots += function == "l2" ? 1 : 0;
      const std::map<std::string, double> values = {{"sum", sum},
                                                    {"mean", sum / static_cast<double>(count)},
                                                    {"prod", product},
                                                    {"max", *std::ranges::max_element(group)},
                                                    {"l1", magnitude},
                                                    {"min", *std::ranges::min_element(group)},
                                                    {"l2", std::sqrt(squares)}};
      want.push_back(values.at(function));
    }
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    ASSERT_EQ(result.size(), want.size()) << problem_tokens(problem);
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(result[k], want[k], 1e-12);
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, roots) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read, 2 * std::ssize(inputs[0]));
    ASSERT_EQ(problem.work.bytes_written, 2 * std::ssize(want));
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

// Each element has the gradient of the result to which it belongs.
TEST(Reduction, GradientsOfSumsAndMeansEqualALoopOverTheSource) {
  Random random(3);
  int count = 0;
  while (count < 2000) {
    Problem forward = random_problem(random);
    const std::string function = forward.parameters.word("function");
    const bool is_mean = function == "mean";
    auto made = make_problem({.op = forward.op,
                              .direction = Direction::backward_data,
                              .dtype = DataType::f16,
                              .parameters = forward.parameters});
    ASSERT_EQ(made.ok(), function == "sum" || is_mean) << function;
    if (!made.ok()) {
      EXPECT_EQ(made.error().what,
                "only the functions sum and mean have a direction `backward_data`");
      continue;
    }
    ++count;
    const Problem& problem = *made;
    const auto inputs = op_test::random_inputs(problem, random());
    const Dims& shape = problem.parameters.numbers("shape");
    const Dims& axes = problem.parameters.numbers("axis");
    std::map<Dims, std::size_t> numbers;  // results in row-major order
    std::vector<Dims> kept_of_element;
    Dims index(shape.size(), 0);
    for (std::int64_t i = 0; i < problem.output().elements(); ++i) {
      Dims kept = index;
      for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis)] = 0;
      numbers[kept] = 0;
      kept_of_element.push_back(std::move(kept));
      for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
    std::size_t number = 0;
    for (auto& entry : numbers) entry.second = number++;
    ASSERT_EQ(inputs[0].size(), numbers.size()) << problem_tokens(problem);
    const auto size = static_cast<double>(kept_of_element.size() / numbers.size());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    ASSERT_EQ(result.size(), kept_of_element.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double gradient = inputs[0][numbers.at(kept_of_element[i])];
      ASSERT_NEAR(result[i], is_mean ? gradient / size : gradient, 1e-12)
          << problem_tokens(problem);
    }
    ASSERT_EQ(problem.work.flops, is_mean ? std::ssize(inputs[0]) : 0);
    ASSERT_EQ(problem.work.bytes_read, 2 * std::ssize(inputs[0]));
    ASSERT_EQ(problem.work.bytes_written, 2 * std::ssize(result));
  }
}

TEST(Reduction, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

TEST(Reduction, GoldenValues) {
  const Problem mean = op_test::problem("reduction", "mean-2x3x4x5-a2x3");
  EXPECT_EQ(problem_tokens(mean), "mean-2x3x4x5-a2x3");
  EXPECT_THAT(mean.tensors[1].dims, ::testing::ElementsAre(2, 3, 1, 1));
  EXPECT_EQ(mean.work.flops, 6 * 20);
  EXPECT_EQ(mean.formulas[0].expression, "outputs*size");
  EXPECT_EQ(mean.formulas[0].values, "6*20");
  op_test::expect_bytes(mean, 4 * (120 + 6));
  const Problem norm = op_test::problem("reduction", "l2-3x4");  // the last axis
  EXPECT_EQ(problem_tokens(norm), "l2-3x4");
  EXPECT_EQ(norm.work.flops, 3 * 7);
  EXPECT_EQ(norm.work.sfu_ops, 3);
  const std::vector<std::vector<double>> inputs = {{3, 4, 0, 0, 1, 1, 1, 1, 0, 0, 0, 2}};
  EXPECT_THAT(built_in_reference(norm, inputs, 0, {}), ::testing::ElementsAre(5, 2, 2));
}

TEST(Reduction, AxesThatDoNotFitAreErrors) {
  const auto error = [](const char* tokens) {
    const auto made = op_test::try_problem("reduction", tokens);
    return made.ok() ? "" : made.error().what;
  };
  constexpr const char* kExpected = ", expected ascending axes of the shape 2x3x4, from 0 to 2";
  EXPECT_EQ(error("sum-2x3x4-a3"), std::string("`axis` is 3") + kExpected);
  EXPECT_EQ(error("sum-2x3x4-a1x0"), std::string("`axis` is 1x0") + kExpected);
  EXPECT_EQ(error("sum-2x3x4-a1x1"), std::string("`axis` is 1x1") + kExpected);
  EXPECT_EQ(op_test::try_problem("reduction", "sum-8", DataType::s8).error().what,
            "reduction is not defined for s8");
}

// A wrong or missing element of order 1 must be seen.
TEST(Reduction, ToleranceIsFarBelowTheResults) {
  const auto tolerance = [](const char* tokens) {
    const Problem problem = op_test::problem("reduction", tokens);
    return problem.op->tolerance(problem);
  };
  EXPECT_EQ(tolerance("max-1000x1000").absolute, 0);
  EXPECT_LT(tolerance("sum-1000000").absolute, 1);
  EXPECT_LT(tolerance("mean-1000000").absolute, 1e-6);
  EXPECT_LT(tolerance("l2-1000000").relative, 1e-3);
}

}  // namespace
}  // namespace bench::ops
