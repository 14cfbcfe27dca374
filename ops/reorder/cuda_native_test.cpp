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

TEST(NativeForms, PermutationsAndConversions) {
  for (const char* tokens :
       {"3x40x17-p0x2x1", "2x5x6x7-p2x0x3x1", "5x7-p1x0", "2x3x4x5-p0x1x3x2", "2x3x4x5-p2x3x0x1",
        "2x3x4-p0x1x2", "2x3x4x5x2x2-p5x4x3x2x1x0", "4x70-bf16", "4x70-f32", "4x70-s8",
        "2x5x3x4-nchw-nhwc-f16", "2x5x3x4-nhwc-nchw-f32", "30x17-f16-p1x0", "9-f64"}) {
    EXPECT_GT(expect_all("reorder", tokens), 0) << tokens;
  }
  const auto name = [](const char* tokens) {
    return native_form(ops::op_test::problem("reorder", tokens))->implementation;
  };
  EXPECT_EQ(name("4x128x12x64-p0x2x1x3"), "bench:reorder_strided");
  EXPECT_EQ(name("4x128x12x64-p0x2x3x1"), "bench:reorder_tiled");
  EXPECT_EQ(name("3x40-p1x0"), "bench:reorder_pixels");
}

}  // namespace
}  // namespace bench::ops::cuda
