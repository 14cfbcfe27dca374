// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/reduction/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, ReductionOfEveryFunctionAndAxis) {
  for (const char* tokens :
       {"sum-3x11", "mean-40", "max-2x5x3x4-a1", "min-2x5x3x4-a0x2", "prod-2x5x3x4-a1x3",
        "l1-2x5x3x4-a0x1x2x3", "l2-1x300", "sum-4x1", "max-7x2x3x2x3x2-a0x2x4"}) {
    EXPECT_GT(test::expect_plain("reduction", tokens), 0) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
