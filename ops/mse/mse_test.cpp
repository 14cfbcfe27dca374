// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Mse, GoldenValuesAndWork) {
  const std::vector<std::vector<double>> inputs = {{1, 2, 3, 4}, {1, 0, 0, 8}, {3, 5}};
  const Problem forward = op_test::problem("mse", "b2s2");
  EXPECT_THAT(built_in_reference(forward, {inputs.data(), 2}, 0, {}), ElementsAre(2, 12.5));
  EXPECT_EQ(forward.work.flops, 2 * 2 * 3);
  op_test::expect_bytes(forward, 4 * (4 + 4 + 2));
  const Problem backward = op_test::problem("mse", "b2s2", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, inputs, 0, {}), ElementsAre(0, 6, 15, -20));
  EXPECT_EQ(backward.work.flops, 2 * (2 * 2 + 2));
  op_test::expect_bytes(backward, 4 * (4 + 4 + 2 + 4));
}

TEST(Mse, TheGradientIsThatOfFiniteDifferences) {
  const Problem forward = op_test::problem("mse", "b2s5", DataType::f64);
  const Problem backward = op_test::problem("mse", "b2s5", DataType::f64, Direction::backward_data);
  const auto inputs = op_test::random_inputs(backward, 5);
  const auto gradient = built_in_reference(backward, inputs, 0, {});
  constexpr double kStep = 1e-6;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const auto loss = [&](double step) {
      std::vector<std::vector<double>> moved = {inputs[0], inputs[1]};
      moved[0][i] += step;
      return built_in_reference(forward, moved, 0, {})[i / 5] * inputs[2][i / 5];
    };
    EXPECT_NEAR(gradient[i], (loss(kStep) - loss(-kStep)) / (2 * kStep), 1e-8);
  }
}

}  // namespace
}  // namespace bench::ops
