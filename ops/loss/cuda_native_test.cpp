// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/loss/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, LossOfEveryTail) {
  for (const char* tokens : {"b3c1", "b4c2", "b2c7", "b5c40", "b1c300"}) {
    const std::string problem = std::string("softmax_cross_entropy-") + tokens;
    EXPECT_EQ(test::expect_plain("loss", problem), 2 * 6) << tokens;
  }
}

TEST(VectorMath, ExpIsWithinTwoUnits) {
  for (float x = -87.3F; x < 88.0F; x += 0.00137F) {
    const double want = std::exp(static_cast<double>(x));
    ASSERT_NEAR(exp_of(x), want, 2 * 1.2e-7 * want) << x;
  }
  EXPECT_EQ(exp_of(0.0F), 1.0F);
  EXPECT_LT(exp_of(-1000.0F), 1.3e-38F);
  EXPECT_GT(exp_of(-INFINITY), 1.0e-38F);  // not a denormal
}

TEST(VectorMath, OrderedIntegersHaveTheOrderOfTheNumbers) {
  const double numbers[] = {-INFINITY, -3e38, -1.5, -1e-45, 0.0, 1e-45, 2e-3, 1.5, 3e38, INFINITY};
  for (std::size_t i = 0; i + 1 < std::size(numbers); ++i) {
    const auto a = static_cast<float>(numbers[i]), b = static_cast<float>(numbers[i + 1]);
    EXPECT_LT(to_ordered(a), to_ordered(b)) << a;
    EXPECT_LT(to_ordered(numbers[i]), to_ordered(numbers[i + 1])) << a;
    EXPECT_EQ(from_ordered(to_ordered(a)), a);
    EXPECT_EQ(from_ordered(to_ordered(numbers[i])), numbers[i]);
  }
}

}  // namespace
}  // namespace bench::ops::cuda
