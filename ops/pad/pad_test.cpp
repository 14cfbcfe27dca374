// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Pad, GoldenValuesAndWork) {
  const std::vector<std::vector<double>> source = {{1, 2, 3, 4}};
  const Problem columns = op_test::problem("pad", "2x2-b1e2");
  EXPECT_THAT(built_in_reference(columns, source, 0, {}),
              ElementsAre(0, 1, 2, 0, 0, 0, 3, 4, 0, 0));
  EXPECT_EQ(columns.work.flops, 0);
  op_test::expect_bytes(columns, 4 * (4 + 10));
  EXPECT_THAT(built_in_reference(op_test::problem("pad", "2x2-a0b1"), source, 0, {}),
              ElementsAre(0, 0, 1, 2, 3, 4));
  const Problem backward =
      op_test::problem("pad", "2x2-b1", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, {{{9, 1, 2, 9, 3, 4}}}, 0, {}), ElementsAre(1, 2, 3, 4));
  op_test::expect_bytes(backward, 4 * (4 + 4));
  EXPECT_EQ(op_test::try_problem("pad", "2x2-a2b1").error().where, "axis");
}

}  // namespace
}  // namespace bench::ops
