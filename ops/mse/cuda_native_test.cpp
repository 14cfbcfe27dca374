// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/mse/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, MseOfEveryTail) {
  for (const char* tokens : {"b3s1", "b4s2", "b2s7", "b5s40", "b1s3000"}) {
    EXPECT_EQ(test::expect_plain("mse", tokens), 2 * 6) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
