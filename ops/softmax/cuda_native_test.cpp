// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/softmax/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

// The sum of the maximum and the logarithm was rounded to the digits of the maximum.
TEST(NativeForms, LogSoftmaxOfLargeValuesIsExact) {
  const Problem problem = bench::ops::op_test::problem("softmax", "1x3+log");
  const std::vector<double> results =
      test::run_outputs(*native_form(problem), {{10000, 10001, 9998}}).front();
  const double logarithm = std::log(std::exp(-1.0) + 1 + std::exp(-3.0));
  EXPECT_NEAR(results[0], -1 - logarithm, 1e-6);
  EXPECT_NEAR(results[1], -logarithm, 1e-6);
  EXPECT_NEAR(results[2], -3 - logarithm, 1e-6);
}

template <std::size_t kCount>
PowerSum<double> sum_of(const double (&values)[kCount], std::size_t begin, std::size_t end) {
  return sum_powers(static_cast<std::int64_t>(end - begin), 0, 1,
                    [&](std::int64_t i) { return values[begin + static_cast<std::size_t>(i)]; });
}

TEST(PowerSum, PartsMergeInAnyOrderAndEmptyOnesChangeNothing) {
  const double values[] = {1, -3, 7, 7, 2, 100, -50, 99.5};
  double want = 0;
  for (const double x : values) want += std::exp(x - 100);
  for (std::size_t cut = 0; cut <= std::size(values); ++cut) {
    const PowerSum<double> a = sum_of(values, 0, cut), b = sum_of(values, cut, std::size(values));
    for (const PowerSum<double>& both : {merge_sums(a, b), merge_sums(b, a)}) {
      EXPECT_EQ(both.maximum, 100);
      EXPECT_NEAR(both.sum, want, 1e-15);
    }
  }
}

TEST(PowerSum, MinusInfinityHasNoWeight) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {-infinity, -infinity, 3.0, -infinity};
  for (std::size_t cut = 0; cut <= std::size(values); ++cut) {
    const PowerSum<double> sum =
        merge_sums(sum_of(values, 0, cut), sum_of(values, cut, std::size(values)));
    EXPECT_EQ(sum.maximum, 3);
    EXPECT_EQ(sum.sum, 1);
  }
}

}  // namespace
}  // namespace bench::ops::cuda
