// SPDX-License-Identifier: Apache-2.0
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Cumsum, GoldenValuesAndWork) {
  const std::vector<std::vector<double>> source = {{1, 2, 3, 4, 5, 6}};
  const Problem rows = op_test::problem("cumsum", "2x3");
  EXPECT_THAT(built_in_reference(rows, source, 0, {}), ElementsAre(1, 3, 6, 4, 9, 15));
  EXPECT_EQ(rows.work.flops, 2 * 2);
  op_test::expect_bytes(rows, 4 * 12);
  EXPECT_THAT(built_in_reference(op_test::problem("cumsum", "2x3-a0"), source, 0, {}),
              ElementsAre(1, 2, 3, 5, 7, 9));
  const Problem backward =
      op_test::problem("cumsum", "2x3", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, source, 0, {}), ElementsAre(6, 5, 3, 15, 11, 6));
  EXPECT_EQ(op_test::try_problem("cumsum", "2x3-a2").error().where, "axis");
}

}  // namespace
}  // namespace bench::ops
