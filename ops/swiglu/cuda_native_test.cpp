// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/swiglu/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, SwigluOfEveryTail) {
  for (const char* tokens : {"1", "3x11", "40", "2x5x3x4", "4095", "4096", "4097", "3x5000"}) {
    EXPECT_GT(test::expect_plain("swiglu", tokens), 8) << tokens;
  }
}

TEST(Sigmoid, OfOneValueInSinglePrecisionIsTheFormula) {
  for (float x = -120; x <= 120; x += 0.03125f) {
    const double want = 1 / (1 + std::exp(-static_cast<double>(x)));
    EXPECT_NEAR(sigmoid_of(x), want, 5e-7 * want + 1e-37) << x;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
