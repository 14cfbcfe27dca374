// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/dropout/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, DropoutOfEveryTail) {
  for (const char* tokens : {"4x33", "5000-p0.1", "7", "2x3x5-p0.9s3"}) {
    EXPECT_GT(test::expect_plain("dropout", tokens), 5) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
