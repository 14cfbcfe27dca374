// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cumsum/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, CumsumOfEveryTail) {
  for (const char* tokens :
       {"1", "7x33", "3x70-a0", "2x3x4x5-a1", "5x900", "700x2x9-a0", "4x3x300-a1"}) {
    EXPECT_GT(test::expect_plain("cumsum", tokens), 5) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
