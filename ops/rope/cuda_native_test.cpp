// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/rope/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

// Fewer pairs than lanes, more pairs than lanes, and positions that do not fill a row.
TEST(NativeForms, RopeOfEveryTail) {
  for (const char* tokens : {"h2s3d2", "b2h3s17d6", "h1s33d30", "h5s1d64"}) {
    EXPECT_GT(test::expect_plain("rope", tokens), 0) << tokens;
    for (const DataType dtype : {DataType::f32, DataType::f64, DataType::bf16}) {
      test::expect_reference(
          ops::op_test::problem("rope", tokens, dtype, Direction::backward_data));
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
