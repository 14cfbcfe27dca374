// SPDX-License-Identifier: Apache-2.0
#include "ops/prelu/prelu.hpp"

#include "ops/gradient_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Prelu, EachChannelHasItsSlope) {
  const std::vector<std::vector<double>> inputs = {{1, -2, -3, 4, -5, 6, 7, -8}, {0.5, 0.25}};
  EXPECT_THAT(built_in_reference(op_test::problem("prelu", "channel-2x2x2"), inputs, 0, {}),
              ElementsAre(1, -1, -0.75, 4, -2.5, 6, 7, -2));
  const std::vector<std::vector<double>> one = {{1, -2, -3, 4}, {0.5}};
  EXPECT_THAT(built_in_reference(op_test::problem("prelu", "one-4"), one, 0, {}),
              ElementsAre(1, -1, -1.5, 4));
  const std::vector<std::vector<double>> all = {{1, -2, -3, 4}, {1, 2, 3, 4}};
  EXPECT_THAT(built_in_reference(op_test::problem("prelu", "all-2x2"), all, 0, {}),
              ElementsAre(1, -4, -9, 4));
}

TEST(Prelu, GradientsEqualDifferences) {
  for (const char* tokens : {"channel-2x3x4", "one-2x7", "all-3x4", "channel-5x3"}) {
    op_test::expect_gradients_equal_differences("prelu", tokens, Direction::backward_weights);
  }
}

TEST(Prelu, WorkIsExact) {
  const Problem forward = op_test::problem("prelu", "2x16x8x8");
  EXPECT_EQ(forward.work.flops, 2 * 2048);
  op_test::expect_bytes(forward, 4 * (2 * 2048 + 16));
  const Problem backward =
      op_test::problem("prelu", "2x16x8x8", DataType::f32, Direction::backward_weights);
  EXPECT_EQ(backward.work.flops, 4 * 2048);
  op_test::expect_bytes(backward, 4 * (3 * 2048 + 2 * 16));
}

TEST(Prelu, AVectorHasNoChannels) {
  const auto vector = op_test::try_problem("prelu", "channel-7");
  ASSERT_FALSE(vector.ok());
  EXPECT_EQ(vector.error().what, "the shape 7 has no channels: they are axis 1");
  EXPECT_EQ(vector.error().where, "slopes");
}

}  // namespace
}  // namespace bench::ops
