// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, GatherAlongEveryAxis) {
  for (const char* tokens : {"7-i9", "7x5-a0i3", "7x5-a1i13", "2x30x4x5-a1i40", "3x4x17x2-a2i5",
                             "3x4x6x7-a3i3", "2x9x64-a1i4"}) {
    EXPECT_EQ(test::expect_plain("gather", tokens), 8) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
