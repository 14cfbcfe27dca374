// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;
using ::testing::ElementsAre;

Problem random_problem(Random& random) {
  const Operator& op = *find_operator("embedding");
  ParameterSet set(op.parameters);
  set.set("rows", draw(random, 1, 12));
  set.set("dim", draw(random, 1, 9));
  set.set("indices", draw(random, 1, 30));
  const bool is_forward = draw(random, 0, 1) == 1;
  Result<Problem> made =
      make_problem({.op = &op,
                    .direction = is_forward ? Direction::forward : Direction::backward_weights,
                    .dtype = DataType::bf16,
                    .parameters = set});
  if (!made.ok()) ADD_FAILURE() << made.error().message();
  return std::move(made).value();
}

// Counts the rows that the indices name, and adds one by one.
TEST(Embedding, WorkAndValuesEqualALoop) {
  Random random(1);
  for (int n = 0; n < 10000; ++n) {
    const Problem problem = random_problem(random);
    const auto inputs = op_test::random_inputs(problem, random());
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    const auto rows = static_cast<std::size_t>(problem.parameters.count("rows"));
    const auto dim = static_cast<std::size_t>(problem.parameters.count("dim"));
    const std::vector<double>& indices = inputs[1];
    const std::set<double> named(indices.begin(), indices.end());
    const bool is_forward = problem.direction == Direction::forward;
    std::vector<double> want((is_forward ? indices.size() : rows) * dim, 0.0);
    std::int64_t flops = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto row = static_cast<std::size_t>(indices[i]);
      ASSERT_LT(row, rows);
      for (std::size_t k = 0; k < dim; ++k) {
        if (is_forward) {
          want[i * dim + k] = inputs[0][row * dim + k];
        } else {
          want[row * dim + k] += inputs[0][i * dim + k];
          ++flops;
        }
      }
    }
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(result[i], want[i], 1e-12);
    const std::size_t read = is_forward ? named.size() : indices.size();
    ASSERT_EQ(problem.work.flops, flops) << problem_tokens(problem);
    ASSERT_EQ(problem.work.bytes_read,
              static_cast<std::int64_t>(2 * read * dim + 4 * indices.size()));
    ASSERT_EQ(problem.work.bytes_written, 2 * std::ssize(want));
    ASSERT_FALSE(HasFailure()) << problem_tokens(problem);
  }
}

TEST(Embedding, TokensComeBackAndPositionsAgree) {
  op_test::expect_texts_and_positions(random_problem, 2, 3000);
}

// The gradient is the transpose of the lookup: <lookup(w), g> = <w, gradient(g)> for all w and g.
TEST(Embedding, TheGradientIsThatOfTheLookup) {
  for (const char* tokens : {"r5d3i12", "r40d2i7", "r1d1i9"}) {
    const Problem forward = op_test::problem("embedding", tokens, DataType::f64);
    const Problem backward =
        op_test::problem("embedding", tokens, DataType::f64, Direction::backward_weights);
    const auto inputs = op_test::random_inputs(forward, 3);
    auto gradients = op_test::random_inputs(backward, 4);
    gradients[1] = inputs[1];
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    EXPECT_NEAR(product(built_in_reference(forward, inputs, 0, {}), gradients[0]),
                product(inputs[0], built_in_reference(backward, gradients, 0, {})), 1e-12);
  }
}

TEST(Embedding, GoldenValues) {
  const std::vector<std::vector<double>> table = {{1, 2, 3, 4, 5, 6}, {2, 0, 2, 1}};
  EXPECT_THAT(built_in_reference(op_test::problem("embedding", "r3d2i4"), table, 0, {}),
              ElementsAre(5, 6, 1, 2, 5, 6, 3, 4));
  const std::vector<std::vector<double>> gradient = {{1, 2, 3, 4, 5, 6}, {2, 0, 2}};
  EXPECT_THAT(built_in_reference(op_test::problem("embedding", "r3d2i3", DataType::f32,
                                                  Direction::backward_weights),
                                 gradient, 0, {}),
              ElementsAre(3, 4, 0, 0, 6, 8));
  // BERT base: 32 sequences of 128 words; indices are s32.
  const Problem bert = op_test::problem("embedding", "r30522d768i4096");
  EXPECT_EQ(bert.work.flops, 0);
  op_test::expect_bytes(bert, 4096 * 4 + 2 * 4096 * 768 * 4);
  EXPECT_EQ(bert.formulas[0].values, "min(30522, 4096)");
  const auto too_many = op_test::try_problem("embedding", "r2147483648d1i1");
  ASSERT_FALSE(too_many.ok());
  EXPECT_EQ(too_many.error().what, "`rows` is 2147483648, indices (s32) name 2147483647 at most");
}

TEST(Embedding, CallsOfPyTorchHaveWork) {
  using Shapes = std::vector<FrameworkRange::Shape>;
  const Shapes lookup = {{30522, 768}, {32, 128}, {}, {}, {}};
  const auto work =
      compute_framework_work({.name = "aten::embedding", .inputs = &lookup}, std::nullopt);
  EXPECT_EQ(work->parameters, "r30522d768i4096");
  EXPECT_EQ(work->flops, 0);
  const Shapes gradient = {{32, 128, 768}, {32, 128}, {}, {}, {}};
  const FrameworkRange::Shape table = {30522, 768};
  FrameworkCall call{.name = "aten::embedding_dense_backward", .inputs = &gradient};
  EXPECT_FALSE(compute_framework_work(call, std::nullopt).has_value());  // rows are unknown
  call.output = &table;
  EXPECT_EQ(compute_framework_work(call, std::nullopt)->flops, 4096 * 768);
}

}  // namespace
}  // namespace bench::ops
