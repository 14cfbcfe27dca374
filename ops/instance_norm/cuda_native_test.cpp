// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, InstanceNormOfEveryShape) {
  for (const char* tokens : {"n2c6h5", "c4w7", "n3c4h2+noscale", "n2c8d2h3+noshift",
                             "training-n2c6h5", "training-n5c4w33"}) {
    EXPECT_GT(test::expect_plain("instance_norm", tokens), 0) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
