// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel of pad on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, PadOfEveryAxisAndTail) {
  for (const char* tokens :
       {"2x7x9-a1b3e4", "10x16-a0e9", "3x40-b8e32", "5-b4", "3x5000-b1", "2x3x4x5-a2b1e3", "6x7"}) {
    EXPECT_GT(test::expect_plain("pad", tokens), 5) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
