// SPDX-License-Identifier: Apache-2.0
#include "harness/worker/canary_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace bench {
namespace {

TEST(CanaryWork, IsDone) {
  // Each step moves a chain closer to 1 by a factor. With no steps the result is the sum of 1 to 8.
  EXPECT_DOUBLE_EQ(multiply_add_chains(0), 36);
  EXPECT_NEAR(multiply_add_chains(1), 8 + 28 * 0.999999, 1e-9);
  EXPECT_NEAR(multiply_add_chains(20'000'000), 8, 1e-6);
  const std::vector<double> left = {1, 2, 3}, right = {10, 20, 30};
  std::vector<double> to(3);
  triad(to.data(), left.data(), right.data(), 2);
  EXPECT_THAT(to, testing::ElementsAre(31, 62, 0));
}

}  // namespace
}  // namespace bench
