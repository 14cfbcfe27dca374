// SPDX-License-Identifier: Apache-2.0
// Tests the gradients of attention: work, and the reference against differences.
#include "ops/attention/attention.hpp"
#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace bench::ops {
namespace {

using op_test::draw;
using op_test::Random;

// log(sum(exp(score))) of each query, from the definition.
std::vector<double> log_sums(const Problem& problem, ReferenceInputs inputs) {
  const auto size = static_cast<std::size_t>(problem.parameters.count("head_dim"));
  std::vector<double> result;
  for (std::size_t row = 0; row < inputs[0].size() / size; ++row) {
    const AttentionQuery query =
        find_attention_query(problem.parameters, static_cast<std::int64_t>(row));
    double sum = 0;
    for (std::int64_t key = query.first_key; key < query.end_key; ++key) {
      double score = 0;
      for (std::size_t d = 0; d < size; ++d) {
        score += inputs[0][row * size + d] *
                 inputs[1][query.keys + static_cast<std::size_t>(key) * size + d];
      }
      sum += std::exp(score / std::sqrt(static_cast<double>(size)));
    }
    result.push_back(sum > 0 ? std::log(sum) : 0);
  }
  return result;
}

// The loss is a random sum of the results: its gradients are those of the random factors.
void expect_gradients_equal_differences(const char* tokens) {
  const Problem forward = op_test::problem("attention", tokens, DataType::f64);
  const Problem backward =
      op_test::problem("attention", tokens, DataType::f64, Direction::backward_data);
  auto inputs = op_test::random_inputs(forward, 7);
  const std::vector<double> factors = op_test::random_inputs(backward, 8).back();
  const auto loss = [&] {
    const auto result = built_in_reference(forward, inputs, 0, {});
    double sum = 0;
    for (std::size_t i = 0; i < result.size(); ++i) sum += factors[i] * result[i];
    return sum;
  };
  std::vector<std::vector<double>> saved = inputs;
  saved.push_back(built_in_reference(forward, inputs, 0, {}));
  saved.push_back(log_sums(forward, inputs));
  saved.push_back(factors);
  constexpr double kStep = 1e-5;
  for (std::size_t tensor = 0; tensor < inputs.size(); ++tensor) {
    const auto gradient = built_in_reference(backward, saved, tensor, {});
    ASSERT_EQ(gradient.size(), inputs[tensor].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double x = inputs[tensor][i];
      inputs[tensor][i] = x + kStep;
      const double above = loss();
      inputs[tensor][i] = x - kStep;
      const double below = loss();
      inputs[tensor][i] = x;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-8)
          << tokens << ": tensor " << tensor << ", element " << i;
    }
  }
}

TEST(AttentionGradients, EqualDifferences) {
  for (const char* tokens : {"h1q1k3d2", "b2h2q3k4d3", "h4g2q3k5d2+causal", "h2q6d2w3+causal",
                             "h1q5k3d2+causal", "b2h2g1q2k6d2l2x5", "b2h4g2q2k6d2l6x1+causal"}) {
    expect_gradients_equal_differences(tokens);
  }
}

TEST(AttentionGradients, TrainingWritesWhatTheyRead) {
  for (const std::string tokens : {"h1q1k3d2", "b2h4g2q3k5d2+causal", "h2q6d2w3+causal",
                                   "h1q5k3d2+causal", "b2h4g2q2k6d2l6x1+causal"}) {
    const Problem training = op_test::problem("attention", "training-" + tokens, DataType::f64);
    const auto inputs = op_test::random_inputs(training, 9);
    const std::vector<double> want = log_sums(training, inputs);
    const auto result = built_in_reference(training, inputs, 1, {});
    ASSERT_EQ(result.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(result[i], want[i], 1e-12) << tokens << " " << i;
    }
    const std::vector<std::int64_t> last = {training.output(1).elements() - 1};
    EXPECT_EQ(built_in_reference(training, inputs, 1, last).front(), result.back());
    const Problem inference = op_test::problem("attention", tokens, DataType::f64);
    EXPECT_EQ(inference.output_count(), 1U);
    EXPECT_EQ(built_in_reference(training, inputs, 0, {}),
              built_in_reference(inference, inputs, 0, {}));
  }
}

// The formulas of the work, against the pairs that the reference visits.
TEST(AttentionGradients, WorkEqualsALoopNest) {
  Random random(3);
  for (int i = 0; i < 10000; ++i) {
    const std::int64_t kv_heads = draw(random, 1, 3), group = draw(random, 1, 3);
    const bool causal = draw(random, 0, 1) == 1;
    std::string tokens =
        "b" + std::to_string(draw(random, 1, 2)) + "h" + std::to_string(kv_heads * group) + "g" +
        std::to_string(kv_heads) + "q" + std::to_string(draw(random, 1, 9)) + "k" +
        std::to_string(draw(random, 1, 9)) + "d" + std::to_string(draw(random, 1, 5));
    if (causal) tokens += "w" + std::to_string(draw(random, 1, 9)) + "+causal";
    const Problem problem =
        op_test::problem("attention", tokens, DataType::bf16, Direction::backward_data);
    const ParameterSet& set = problem.parameters;
    const std::int64_t rows = set.count("batch") * set.count("heads") * set.count("q_len");
    std::int64_t pairs = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const AttentionQuery query = find_attention_query(set, row);
      pairs += query.end_key - query.first_key;
    }
    ASSERT_EQ(problem.work.flops, 10 * pairs * set.count("head_dim")) << tokens;
    ASSERT_EQ(problem.work.sfu_ops, pairs) << tokens;
    const std::int64_t queries = rows * set.count("head_dim");
    const std::int64_t keys =
        set.count("batch") * kv_heads * set.count("kv_len") * set.count("head_dim");
    ASSERT_EQ(problem.work.bytes_written, 2 * (queries + 2 * keys)) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops
