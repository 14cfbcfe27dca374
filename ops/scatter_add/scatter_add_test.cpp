// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(ScatterAdd, GoldenValuesAndWork) {
  const Problem forward = op_test::problem("scatter_add", "r3d2i4");
  EXPECT_THAT(built_in_reference(
                  forward, {{{1, 1, 1, 1, 1, 1}, {2, 0, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}}}, 0, {}),
              ElementsAre(4, 5, 8, 9, 7, 9));
  EXPECT_EQ(forward.work.flops, 8);
  op_test::expect_bytes(forward, 4 * (6 + 4 + 8 + 6));
  const Problem backward =
      op_test::problem("scatter_add", "r3d2i4", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, {{{1, 2, 3, 4, 5, 6}, {2, 0, 2, 1}}}, 0, {}),
              ElementsAre(5, 6, 1, 2, 5, 6, 3, 4));
  EXPECT_EQ(backward.work.flops, 0);
  op_test::expect_bytes(backward, 4 * (6 + 4 + 8));
  EXPECT_EQ(op_test::try_problem("scatter_add", "r2147483648i1").error().where, "rows");
}

}  // namespace
}  // namespace bench::ops
