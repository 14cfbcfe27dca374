// SPDX-License-Identifier: Apache-2.0
#include "ops/gradient_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops {
namespace {

TEST(Lrn, ChannelsAreDividedByTheirNeighbours) {
  const Problem problem = op_test::problem("lrn", "1x4x1-r3alpha3beta1");
  const std::vector<std::vector<double>> inputs = {{1, 2, 3, 4}};
  // alpha/size is 1, k is 1.
  EXPECT_THAT(built_in_reference(problem, inputs, 0, {}),
              ::testing::ElementsAre(::testing::DoubleEq(1.0 / 6), ::testing::DoubleEq(2.0 / 15),
                                     ::testing::DoubleEq(3.0 / 30), ::testing::DoubleEq(4.0 / 26)));
}

TEST(Lrn, AWindowOfTheImageIsDividedByItsSize) {
  const Problem problem = op_test::problem("lrn", "within_channel-1x1x2x2-r3alpha9beta0.5");
  const std::vector<std::vector<double>> inputs = {{1, 2, 3, 4}};
  const std::vector<double> result = built_in_reference(problem, inputs, 0, {});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(result[i], inputs[0][i] / std::sqrt(1.0 + 30.0));
  }
}

TEST(Lrn, GradientsEqualDifferences) {
  for (const char* tokens :
       {"2x6x3-r3alpha1", "1x5x2x2-r5alpha2beta0.5k2", "within_channel-1x2x4x3-r3alpha1",
        "within_channel-1x1x3x2x3-r3alpha2", "1x4x3-r1"}) {
    op_test::expect_gradients_equal_differences("lrn", tokens, Direction::backward_data);
  }
}

TEST(Lrn, WorkIsThatOfOnednnsLines) {
  const Problem across = op_test::problem("lrn", "2x16x8x8");
  EXPECT_EQ(across.work.flops, 13 * 2048);
  EXPECT_EQ(across.work.sfu_ops, 2048);
  op_test::expect_bytes(across, 4 * 2 * 2048);
  EXPECT_EQ(op_test::problem("lrn", "within_channel-2x16x8x8").work.flops, 53 * 2048);
  const auto even = op_test::try_problem("lrn", "2x16x8x8-r4");
  ASSERT_FALSE(even.ok());
  EXPECT_EQ(even.error().what, "`size` is 4, expected an odd number");
}

}  // namespace
}  // namespace bench::ops
