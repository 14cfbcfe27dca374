// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/sort/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

// In f8, many elements are equal.
TEST(NativeForms, SortOfEveryFunction) {
  for (const char* tokens : {"sort-3x1", "sort-2x37", "sort-2x3x70", "topk-3x50-k1", "topk-3x50-k7",
                             "topk-5-k5", "argmax-3x50", "argmin-2x200", "argmax-7"}) {
    EXPECT_GT(test::expect_plain("sort", tokens), 5) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
