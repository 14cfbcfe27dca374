// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using test::expect_all;

TEST(NativeForms, ReordersBetweenAllLayouts) {
  for (const char* from : {"nchw", "nhwc", "blocked16"}) {
    for (const char* to : {"nchw", "nhwc", "blocked16"}) {
      for (const char* shape :
           {"2x5x3x4", "2x16x3x2", "1x35x7", "2x3x2x3x2", "2x1x4x4", "2x8x1x1"}) {
        EXPECT_GT(expect_all("reorder", fmt::format("{}-{}-{}", shape, from, to)), 0);
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
