// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/scatter_add/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, ScatterAddOfEveryWidth) {
  for (const char* tokens : {"r7i40", "r9d2i5", "r20d3i20", "r5d16i3", "r1d5i9", "r33d20i64"}) {
    EXPECT_EQ(test::expect_plain("scatter_add", tokens), 2 * 6) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
