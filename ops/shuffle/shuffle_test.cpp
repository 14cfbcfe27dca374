// SPDX-License-Identifier: Apache-2.0
#include "ops/gradient_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

// As torch.nn.functional.channel_shuffle(x, 2) of the channels 0 to 5.
TEST(Shuffle, TakesOneSliceOfEachGroupInTurn) {
  const std::vector<std::vector<double>> inputs = {{0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(built_in_reference(op_test::problem("shuffle", "1x6-g2"), inputs, 0, {}),
              ::testing::ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Shuffle, GradientsEqualDifferences) {
  for (const char* tokens : {"2x6x3-g2", "2x6x3-g3", "8x3-a0g4", "2x4-g1"}) {
    op_test::expect_gradients_equal_differences("shuffle", tokens, Direction::backward_data);
  }
}

TEST(Shuffle, MovesEachElementOnce) {
  const Problem problem = op_test::problem("shuffle", "2x16x8x8-g4", DataType::s8);
  EXPECT_EQ(problem.work.flops, 0);
  op_test::expect_bytes(problem, 2 * 2048);
  const auto uneven = op_test::try_problem("shuffle", "2x16x8x8-g3");
  ASSERT_FALSE(uneven.ok());
  EXPECT_EQ(uneven.error().what, "`groups` is 3, which does not divide 16 slices along the axis 1");
}

}  // namespace
}  // namespace bench::ops
