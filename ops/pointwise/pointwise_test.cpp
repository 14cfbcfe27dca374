// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/pointwise.hpp"

#include "ops/pointwise/functions.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Operator& pointwise() { return *find_operator("pointwise"); }

Dims random_shape(Random& random) {
  Dims shape(static_cast<std::size_t>(draw(random, 1, 4)));
  for (std::int64_t& size : shape) size = draw(random, 1, 5);
  return shape;
}

// A shape that broadcasts against `other`: its last dimensions, some of them 1.
Dims compatible_shape(Random& random, const Dims& other) {
  const auto rank = draw(random, 1, static_cast<std::int64_t>(other.size()));
  Dims shape(other.end() - rank, other.end());
  for (std::int64_t& size : shape) {
    if (draw(random, 0, 2) == 0) size = 1;
  }
  return shape;
}

ParameterSet random_unary(Random& random) {
  const auto& function = unary_functions()[static_cast<std::size_t>(
      draw(random, 0, static_cast<std::int64_t>(unary_functions().size()) - 1))];
  ParameterSet set(pointwise().parameters);
  set.set("function", std::string(function.name));
  set.set("shape", random_shape(random));
  const auto coefficient = [&] { return static_cast<double>(draw(random, -9, 0)) / 8; };
  if (function.coefficients >= 1 && draw(random, 0, 1) == 1) set.set("alpha", coefficient());
  if (function.coefficients >= 2 && draw(random, 0, 1) == 1) set.set("beta", -coefficient());
  return set;
}

ParameterSet random_binary(Random& random) {
  const auto& function = binary_functions()[static_cast<std::size_t>(draw(random, 0, 5))];
  ParameterSet set(pointwise().parameters);
  set.set("function", std::string(function.name));
  Dims a = random_shape(random);
  Dims b = compatible_shape(random, a);
  if (draw(random, 0, 1) == 1) std::swap(a, b);
  set.set("a", a);
  set.set("b", b);
  return set;
}

Problem make(ParameterSet set, Direction direction = Direction::forward) {
  Result<Problem> made = make_problem({.op = &pointwise(),
                                       .direction = direction,
                                       .dtype = DataType::f16,
                                       .parameters = std::move(set),
                                       .post_ops = {}});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Returns the flat position in an operand for the result's element `index` (one entry per
// dimension).
std::int64_t flat(const Dims& dims, const Dims& index) {
  std::int64_t position = 0;
  const std::size_t front = index.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    position = position * dims[i] + (dims[i] == 1 ? 0 : index[front + i]);
  }
  return position;
}

// Calls visit(index) for all indexes below `dims`, row-major.
template <class Visit>
void for_each_index(const Dims& dims, Visit visit) {
  Dims index(dims.size(), 0);
  while (true) {
    visit(index);
    std::size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

TEST(Pointwise, BinaryWorkAndValuesEqualALoopNest) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const Problem problem = make(random_binary(random));
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = pointwise_reference(problem, inputs, 0, {});
    const auto* function = find_binary_function(problem.parameters.word("function"));
    std::set<std::int64_t> a_touched;
    std::set<std::int64_t> b_touched;
    std::int64_t flops = 0;
    for_each_index(problem.tensors[2].dims, [&](const Dims& index) {
      const std::int64_t a = flat(problem.tensors[0].dims, index);
      const std::int64_t b = flat(problem.tensors[1].dims, index);
      a_touched.insert(a);
      b_touched.insert(b);
      const double want = function->value(inputs[0][static_cast<std::size_t>(a)],
                                          inputs[1][static_cast<std::size_t>(b)]);
      EXPECT_EQ(result[static_cast<std::size_t>(flops)], want);
      ++flops;
    });
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.flops_valid, flops);
    ASSERT_EQ(problem.work.bytes_read,
              2 * static_cast<std::int64_t>(a_touched.size() + b_touched.size()))
        << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_written, 2 * flops);
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Pointwise, UnaryWorkEqualsALoop) {
  Random random(2);
  for (int i = 0; i < 10000; ++i) {
    const bool backward = i % 2 == 1;
    const Problem problem =
        make(random_unary(random), backward ? Direction::backward_data : Direction::forward);
    const auto* function = find_unary_function(problem.parameters.word("function"));
    const ElementWork each = backward ? function->backward : function->forward;
    std::int64_t flops = 0;
    std::int64_t sfu_ops = 0;
    std::int64_t elements = 0;
    for_each_index(problem.parameters.numbers("shape"), [&](const Dims&) {
      flops += each.flops;
      sfu_ops += each.sfu_ops;
      ++elements;
    });
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.sfu_ops, sfu_ops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read, (backward ? 4 : 2) * elements);
    ASSERT_EQ(problem.work.bytes_written, 2 * elements);
  }
}

TEST(Pointwise, TokensComeBack) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    op_test::expect_round_trip(make(i % 2 == 0 ? random_unary(random) : random_binary(random)));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Pointwise, PositionsAgreeWithTheWhole) {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    op_test::expect_positions_agree(make(random_binary(random)), random);
    op_test::expect_positions_agree(
        make(random_unary(random), i % 2 == 0 ? Direction::forward : Direction::backward_data),
        random);
    ASSERT_FALSE(HasFailure());
  }
}

// Central differences, away from the kinks at 0, 6 and +-3.
TEST(Pointwise, DerivativesEqualDifferences) {
  for (const UnaryFunction& function : unary_functions()) {
    for (const double x : {-3.5, -1.25, -0.5, 0.375, 0.75, 2.5, 4.0, 7.0}) {
      if (x <= 0 && function.domain == Domain::positive) continue;
      const double step = 1e-5;
      const double difference = (function.value(x + step, function.alpha, function.beta) -
                                 function.value(x - step, function.alpha, function.beta)) /
                                (2 * step);
      EXPECT_NEAR(function.derivative(x, function.alpha, function.beta), difference,
                  1e-7 * (1 + std::abs(difference)))
          << function.name << " at " << x;
    }
  }
}

TEST(Pointwise, PublishedValues) {
  const auto value = [](std::string_view name, double x) {
    const UnaryFunction* function = find_unary_function(name);
    return function->value(x, function->alpha, function->beta);
  };
  EXPECT_DOUBLE_EQ(value("relu", -2), 0);
  EXPECT_DOUBLE_EQ(value("leaky_relu", -2), -0.02);
  EXPECT_NEAR(value("elu", -1), -0.6321205588285577, 1e-15);
  EXPECT_NEAR(value("gelu_erf", 1), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(value("gelu_tanh", 1), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(value("sigmoid", 1), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(value("tanh", 1), 0.7615941559557649, 1e-15);
  EXPECT_NEAR(value("swish", 1), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(value("hardswish", 1), 2.0 / 3, 1e-15);
  EXPECT_NEAR(value("hardsigmoid", 1), 2.0 / 3, 1e-15);
  EXPECT_DOUBLE_EQ(value("hardsigmoid", 3), 1);
  EXPECT_DOUBLE_EQ(value("hardsigmoid", -4), 0);
  EXPECT_NEAR(value("exp", 1), 2.718281828459045, 1e-15);
  EXPECT_DOUBLE_EQ(value("log", 1), 0);
  EXPECT_DOUBLE_EQ(value("sqrt", 2.25), 1.5);
  EXPECT_DOUBLE_EQ(value("abs", -2), 2);
  EXPECT_DOUBLE_EQ(value("clip", 8), 6);
  EXPECT_DOUBLE_EQ(value("square", -3), 9);
}

TEST(Pointwise, ExactWork) {
  const Problem relu = op_test::problem("pointwise", "relu-32x64x112x112", DataType::f16);
  EXPECT_EQ(relu.work.flops, 25690112);
  op_test::expect_bytes(relu, 102760448);
  const Problem add = op_test::problem("pointwise", "add-4x1024-1024", DataType::f16);
  EXPECT_EQ(add.work.flops, 4096);
  op_test::expect_bytes(add, 18432);
  const Problem large =
      op_test::problem("pointwise", "add-32x256x56x56-32x256x56x56", DataType::f16);
  EXPECT_EQ(large.work.flops, 25690112);
  op_test::expect_bytes(large, 154140672);
}

TEST(Pointwise, CanonicalText) {
  EXPECT_EQ(problem_tokens(op_test::problem("pointwise", "relu-1x64x56x56")), "relu-1x64x56x56");
  EXPECT_EQ(problem_tokens(op_test::problem("pointwise", "clip-8-alpha0beta6")), "clip-8");
  EXPECT_EQ(problem_tokens(op_test::problem("pointwise", "clip-8-alpha-1beta1")),
            "clip-8-alpha-1beta1");
  EXPECT_EQ(problem_tokens(op_test::problem("pointwise", "leaky_relu-8-alpha0.01")),
            "leaky_relu-8");
}

TEST(Pointwise, CoefficientsAreDefaultsWhereNotWritten) {
  const Problem clip = op_test::problem("pointwise", "clip-8-beta1");
  EXPECT_EQ(pointwise_coefficients(clip.parameters).alpha, 0);
  EXPECT_EQ(pointwise_coefficients(clip.parameters).beta, 1);
}

TEST(Pointwise, IntegersKeepTheirTypeAndSaturate) {
  const auto values = [](std::string_view tokens, DataType dtype,
                         const std::vector<std::vector<double>>& inputs) {
    return pointwise_reference(op_test::problem("pointwise", tokens, dtype), inputs, 0, {});
  };
  EXPECT_THAT(values("relu-3", DataType::s8, {{-5, 0, 7}}), ElementsAre(0, 0, 7));
  EXPECT_THAT(values("add-3-1", DataType::s8, {{-5, 100, 7}, {100}}), ElementsAre(95, 127, 107));
  EXPECT_THAT(values("sub-3-1", DataType::u8, {{5, 100, 7}, {6}}), ElementsAre(0, 94, 1));
  EXPECT_THAT(values("div-3-1", DataType::s8, {{5, 6, 7}, {4}}), ElementsAre(1, 2, 2));
}

struct Refused {
  std::string_view tokens;
  DataType dtype;
  Direction direction;
  std::string_view where;
};

TEST(Pointwise, UndefinedCombinationsAreNamed) {
  constexpr Direction kForward = Direction::forward;
  constexpr Direction kBackward = Direction::backward_data;
  for (const auto& [tokens, dtype, direction, where] : std::vector<Refused>{
           {"relu", DataType::f32, kForward, "shape"},
           {"relu-8-8", DataType::f32, kForward, "b"},
           {"relu-8-alpha1", DataType::f32, kForward, "alpha"},
           {"elu-8-beta1", DataType::f32, kForward, "beta"},
           {"add-8", DataType::f32, kForward, "b"},
           {"add-8-8-alpha1", DataType::f32, kForward, "alpha"},
           {"add-8x2-8", DataType::f32, kForward, "b"},
           {"clip-8-alpha7", DataType::f32, kForward, "alpha"},
           {"add-8-8", DataType::f32, kBackward, "direction"},
           {"exp-8", DataType::s8, kForward, "dtype"},
           {"relu-8", DataType::s8, kBackward, "dtype"},
           {"relu-9223372036854775807x2", DataType::f32, kForward, "shape"},
       }) {
    const Result<Problem> result = op_test::try_problem("pointwise", tokens, dtype, direction);
    ASSERT_FALSE(result.ok()) << tokens;
    EXPECT_EQ(result.error().where, where) << tokens << ": " << result.error().message();
  }
}

}  // namespace
}  // namespace bench::ops
