// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent.hpp"

#include "ops/gradient_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Recurrent, AnLstmOfOneElementComputesTheFormulas) {
  const Problem problem = op_test::problem("lstm", "t2i1h1");
  const std::vector<double> w = {0.5, -0.25, 0.75, 0.3}, u = {0.1, 0.2, -0.3, 0.4},
                            b = {0.01, 0.02, 0.03, 0.04}, x = {0.6, -0.8};
  const std::vector<std::vector<double>> inputs = {x, w, u, b};
  double h = 0, c = 0;
  const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
  for (std::size_t t = 0; t < 2; ++t) {
    const auto gate = [&](std::size_t g) { return w[g] * x[t] + u[g] * h + b[g]; };
    const double i = sigmoid_of(gate(0)), f = sigmoid_of(gate(1)), g = std::tanh(gate(2)),
                 o = sigmoid_of(gate(3));
    c = f * c + i * g;
    h = o * std::tanh(c);
    EXPECT_NEAR(result[t], h, 1e-14);
  }
}

TEST(Recurrent, TheResetGateOfAGruIsBeforeOrAfterTheProduct) {
  const std::vector<double> w = {0.5, -0.25, 0.75}, u = {0.1, 0.2, -0.3}, x = {0.6, -0.8};
  for (const bool is_after : {true, false}) {
    const Problem problem = op_test::problem("gru", is_after ? "t2i1h1" : "before-t2i1h1");
    std::vector<double> b = {0.01, 0.02, 0.03};
    if (is_after) b.push_back(0.04);
    const std::vector<std::vector<double>> inputs = {x, w, u, b};
    const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
    double h = 0;
    for (std::size_t t = 0; t < 2; ++t) {
      const double update = sigmoid_of(w[0] * x[t] + u[0] * h + b[0]);
      const double reset = sigmoid_of(w[1] * x[t] + u[1] * h + b[1]);
      const double inner = is_after ? reset * (u[2] * h + b[3]) : u[2] * (reset * h);
      const double candidate = std::tanh(w[2] * x[t] + inner + b[2]);
      h = update * h + (1 - update) * candidate;
      EXPECT_NEAR(result[t], h, 1e-14);
    }
  }
}

TEST(Recurrent, TheSecondDirectionRunsBackwards) {
  const Problem both = op_test::problem("rnn", "t3n2i3h2+bidirectional", DataType::f64);
  const Problem one = op_test::problem("rnn", "t3n2i3h2", DataType::f64);
  const auto inputs = op_test::random_inputs(both, 3);
  // The second direction with the steps of the source in the opposite order.
  std::vector<std::vector<double>> reversed = inputs;
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < 6; ++i) reversed[0][t * 6 + i] = inputs[0][(2 - t) * 6 + i];
  }
  for (std::size_t tensor = 1; tensor < 4; ++tensor) {
    auto& values = reversed[tensor];
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  }
  const auto whole = built_in_reference(both, inputs, 0, {});
  const auto part = built_in_reference(one, reversed, 0, {});
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t h = 0; h < 2; ++h) {
        EXPECT_DOUBLE_EQ(whole[((t * 2 + n) * 2 + 1) * 2 + h], part[((2 - t) * 2 + n) * 2 + h]);
      }
    }
  }
}

TEST(Recurrent, TheLastStateIsTheResultOfTheLastStep) {
  const Problem problem = op_test::problem("lstm", "t4n2i3l2+state", DataType::f64);
  const auto inputs = op_test::random_inputs(problem, 9);
  const auto result = built_in_reference(problem, inputs, 0, {});
  const auto state = built_in_reference(problem, inputs, 1, {});
  ASSERT_EQ(problem.output(2).name, "final_cell");
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(state[6 + i], result[3 * 6 + i]);
}

TEST(Recurrent, GradientsEqualDifferences) {
  for (const char* tokens : {"t3n2i3h2", "t2n2i3l2", "t3n2i2h3+bidirectional", "t2i3h2+nobias"}) {
    for (const std::string op : {"rnn", "lstm", "gru"}) {
      op_test::expect_gradients_equal_differences(op, tokens, Direction::backward_weights);
    }
    op_test::expect_gradients_equal_differences("gru", std::string("before-") + tokens,
                                                Direction::backward_weights);
  }
}

// DeepBench's counts: `gemm_flops_total` of its list of cells.
TEST(Recurrent, WorkIsThatOfTheProductsAndTheCells) {
  const Problem lstm = op_test::problem("lstm", "t25n32i512");
  EXPECT_EQ(lstm.work.macs, 3'355'443'200 / 2);
  EXPECT_EQ(lstm.work.flops, 3'355'443'200 + std::int64_t{25} * 32 * 512 * 8);
  op_test::expect_bytes(lstm, 4 * (2 * 25 * 32 * 512 + 2 * 512 * 4 * 512 + std::int64_t{4} * 512));
  const Problem back =
      op_test::problem("lstm", "t25n32i512", DataType::f32, Direction::backward_weights);
  EXPECT_EQ(back.work.macs, 3'355'443'200);
  EXPECT_EQ(op_test::problem("lstm", "t30i1024l7").work.macs, 3'523'215'360 / 2);
}

TEST(Recurrent, WhatCannotBeComputedSaysWhy) {
  const auto layers = op_test::try_problem("lstm", "t3i4h5l2");
  ASSERT_FALSE(layers.ok());
  EXPECT_EQ(layers.error().what,
            "`layers` is 2, but a layer after the first has an input of 5 and not of 4");
  EXPECT_FALSE(op_test::try_problem("gru", "t3i4l2+bidirectional").ok());
  EXPECT_FALSE(
      op_test::try_problem("rnn", "t3i4+state", DataType::f32, Direction::backward_weights).ok());
}

}  // namespace
}  // namespace bench::ops
