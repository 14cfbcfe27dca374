// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using test::expect_all;

TEST(NativeForms, BatchNorm) {
  for (const char* tokens : {"n2c5h3w4", "n3c4w7", "n2c3d2h3w2", "n1c1h1", "n2c5h3eps0.1"}) {
    EXPECT_GT(expect_all("batch_norm", tokens), 0) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
