// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel of concat and split on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, PiecesOfEveryAxisAndTail) {
  for (const char* op : {"concat", "split"}) {
    for (const char* tokens :
         {"2x7x9-a1s3x4", "10x16-a0s1x2x3x4", "3x40-s8x32", "5-s5", "9x3-s1x1x1", "3x5000-s1x4999",
          "2x9-a1s1x1x1x1x1x1x1x1x1", "4097x2-a0s4096x1", "2x3x4x5-a2s1x3"}) {
      EXPECT_GT(test::expect_plain(op, tokens), 5) << op << " " << tokens;
    }
    const auto many = native_form(ops::op_test::problem(op, "10-s1x1x1x1x1x1x1x1x1x1"));
    ASSERT_FALSE(many.ok());
    EXPECT_EQ(many.error().reason, "the kernel has at most 9 pieces, `sizes` has 10");
  }
}

}  // namespace
}  // namespace bench::ops::cuda
