// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/group_norm/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, GroupNormOfEveryNumberOfGroups) {
  for (const char* tokens : {"n2c6h5g3", "c4w7g1", "n3c4h2g4+noscale", "n2c8d2h3g2+noshift",
                             "training-n2c6h5g3", "training-n5c4w33g2"}) {
    EXPECT_GT(test::expect_plain("group_norm", tokens), 0) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
