// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout.hpp"

#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace bench::ops {
namespace {

using ::testing::ElementsAre;

TEST(Dropout, KeepsTheExpectedPartAndScalesIt) {
  for (const double p : {0.0, 0.1, 0.5, 0.9}) {
    const Problem problem =
        op_test::problem("dropout", "200000-p" + std::to_string(p).substr(0, 3));
    const std::vector<std::vector<double>> inputs = {std::vector<double>(200000, 3)};
    const auto mask = built_in_reference(problem, inputs, 1, {});
    const auto result = built_in_reference(problem, inputs, 0, {});
    const double kept = std::accumulate(mask.begin(), mask.end(), 0.0) / 200000;
    EXPECT_NEAR(kept, 1 - p, 0.01) << p;  // nine standard deviations
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_NEAR(result[i], mask[i] * 3 / (1 - p), 1e-12);
    }
  }
}

TEST(Dropout, AnotherSeedGivesAnotherMask) {
  const std::vector<std::vector<double>> inputs = {std::vector<double>(64, 1)};
  const auto mask = [&](const char* tokens) {
    return built_in_reference(op_test::problem("dropout", tokens), inputs, 1, {});
  };
  EXPECT_EQ(mask("64"), mask("64-s0"));
  EXPECT_NE(mask("64"), mask("64-s1"));
}

TEST(Dropout, GradientAndWork) {
  const Problem backward =
      op_test::problem("dropout", "4", DataType::f32, Direction::backward_data);
  EXPECT_THAT(built_in_reference(backward, {{{1, 0, 0, 1}, {1, 2, 3, 4}}}, 0, {}),
              ElementsAre(2, 0, 0, 8));
  EXPECT_EQ(backward.work.flops, 4);
  op_test::expect_bytes(backward, 4 + 16 + 16);
  op_test::expect_bytes(op_test::problem("dropout", "4"), 16 + 16 + 4);
  EXPECT_EQ(op_test::try_problem("dropout", "4-p1").error().where, "p");
  EXPECT_EQ(op_test::try_problem("dropout", "4", DataType::s8).error().where, "dtype");
}

}  // namespace
}  // namespace bench::ops
