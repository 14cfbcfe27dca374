// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/softmax/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace bench::ops::cuda {
namespace {

using test::expect_all;

TEST(NativeForms, SoftmaxAlongEveryAxis) {
  for (const char* tokens :
       {"3x11", "40", "3x11-a0", "2x5x3x4-a0", "2x5x3x4-a1", "2x5x3x4-a2", "2x5x3x4-a3", "2x5x3-a1",
        "1x300", "4x1", "3x11+log", "2x5x3x4-a1+log"}) {
    EXPECT_GT(expect_all("softmax", tokens), 0) << tokens;
  }
}

TEST(OnlineSum, PartsMergeInAnyOrderAndEmptyOnesChangeNothing) {
  const std::vector<double> values = {1, -3, 7, 7, 2, 100, -50, 99.5};
  OnlineSum<double> whole;
  for (const double x : values) add_term(whole, x);
  double want = 0;
  for (const double x : values) want += std::exp(x - 100);
  EXPECT_EQ(whole.maximum, 100);
  EXPECT_NEAR(whole.sum, want, 1e-15);
  for (std::size_t cut = 0; cut <= values.size(); ++cut) {
    OnlineSum<double> a, b;
    for (std::size_t i = 0; i < values.size(); ++i) add_term(i < cut ? a : b, values[i]);
    for (const OnlineSum<double>& both : {merge_sums(a, b), merge_sums(b, a)}) {
      EXPECT_EQ(both.maximum, 100);
      EXPECT_NEAR(both.sum, want, 1e-15);
    }
  }
}

TEST(OnlineSum, MinusInfinityHasNoWeight) {
  const double infinity = std::numeric_limits<double>::infinity();
  OnlineSum<double> sum;
  for (const double x : {-infinity, -infinity, 3.0, -infinity}) add_term(sum, x);
  EXPECT_EQ(sum.maximum, 3);
  EXPECT_EQ(sum.sum, 1);
}

}  // namespace
}  // namespace bench::ops::cuda
