// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel of slice on the CPU against the reference.
#include "ops/slice/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, SliceOfEveryAxisAndTail) {
  for (const char* tokens : {"2x7x9-a1s4", "2x7x9-a1b3s4", "10x16-a0b9s1", "3x40-b8s32", "5-b4s1",
                             "3x5000-b1s4999", "2x3x4x5-a2b1s3", "4097x2-a0b1s4096"}) {
    EXPECT_GT(test::expect_plain("slice", tokens), 5) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
