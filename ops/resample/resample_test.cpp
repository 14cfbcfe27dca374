// SPDX-License-Identifier: Apache-2.0
#include "ops/gradient_test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

// The values of torch.nn.functional.interpolate.
TEST(Resample, TakesTheElementsThatPytorchTakes) {
  const std::vector<std::vector<double>> four = {{0, 1, 2, 3}};
  EXPECT_THAT(built_in_reference(op_test::problem("resample", "nearest-1x1x4-o8"), four, 0, {}),
              ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(built_in_reference(op_test::problem("resample", "nearest-1x1x4-o2"), four, 0, {}),
              ElementsAre(1, 3));
  EXPECT_THAT(built_in_reference(op_test::problem("resample", "linear-1x1x4-o8"), four, 0, {}),
              ElementsAre(0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3));
  EXPECT_THAT(built_in_reference(op_test::problem("resample", "linear-1x1x2x2-o1x1"), four, 0, {}),
              ElementsAre(1.5));
}

TEST(Resample, GradientsEqualDifferences) {
  for (const char* tokens : {"nearest-2x2x4-o8", "nearest-1x2x6x4-o3x2", "linear-1x2x5-o9",
                             "linear-1x2x4x6-o7x3", "linear-1x1x2x3x2-o3x2x5"}) {
    op_test::expect_gradients_equal_differences("resample", tokens, Direction::backward_data);
  }
}

TEST(Resample, WorkIsExact) {
  const Problem linear = op_test::problem("resample", "linear-2x16x8x8-o16x16");
  EXPECT_EQ(linear.work.flops, 7 * 8192);
  op_test::expect_bytes(linear, 4 * (2048 + 8192));
  // Half of the elements along each axis are used.
  const Problem nearest = op_test::problem("resample", "nearest-2x16x8x8-o4x4");
  EXPECT_EQ(nearest.work.flops, 0);
  op_test::expect_bytes(nearest, 4 * (512 + 512));
  const Problem gradient = op_test::problem("resample", "linear-2x16x8x8-o16x16", DataType::f32,
                                            Direction::backward_data);
  EXPECT_EQ(gradient.work.flops, 8 * 8192);
}

TEST(Resample, SizesMustFitTheShape) {
  const auto result = op_test::try_problem("resample", "linear-2x16x8x8-o16");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().what, "`size` has 1 sizes, the shape 2x16x8x8 has 2 spatial ones");
}

}  // namespace
}  // namespace bench::ops
