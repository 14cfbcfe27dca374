// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/rms_norm/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, RmsNormOfEveryTail) {
  for (const char* tokens : {"3x11", "40", "2x5x3x4-a1", "2x5x3x4-a0", "1x300+noscale", "4x1",
                             "training-3x11", "7x8", "5x17"}) {
    EXPECT_GT(test::expect_plain("rms_norm", tokens), 0) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
