// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/optimizer/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeForms, OptimizerOfEveryFunction) {
  for (const char* tokens : {"sgd-e1", "sgd-e37+decay", "sgd-e40m0.9", "sgd-e5m0.5+decay",
                             "adam-e300", "adam-e37+decay", "adamw-e41"}) {
    EXPECT_EQ(test::expect_plain("optimizer", tokens), 6) << tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
