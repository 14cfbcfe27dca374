// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};

TEST(NativeLayerNorm, ComputesWhatTheReferenceDoes) {
  for (const char* tokens : {"16x768", "3x11", "40", "1x300", "4x1", "2x5x3x4-a0", "2x5x3x4-a1",
                             "2x5x3x4-a2", "training-5x33", "training-2x5x3x4-a1+noscale",
                             "4x40+noscale", "4x40+noshift", "3x8x20-a1eps0.001+noscale+noshift"}) {
    for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::bf16,
                                 DataType::f8_e4m3, DataType::f8_e5m2}) {
      for (const Direction direction : kDirections) {
        Problem problem = ops::op_test::problem("layer_norm", tokens, dtype, direction);
        test::expect_reference(problem);
        problem.layout = Layout::nchw;
        test::expect_reference(problem);
      }
    }
  }
}

// A whole image is contiguous in nhwc too. Scale and shift have the order of its elements.
TEST(NativeLayerNorm, NormalisesWholeImagesInNhwc) {
  for (const char* tokens :
       {"2x5x3x4-a1", "2x5x3x4-a0", "4x8x20-a1eps0.001+noscale+noshift", "training-2x5x3x4-a1",
        "2x3x2x4x5-a1", "2x5x3x4-a1+noscale", "2x5x3x4-a1+noshift"}) {
    for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::bf16}) {
      for (const Direction direction : kDirections) {
        Problem problem = ops::op_test::problem("layer_norm", tokens, dtype, direction);
        problem.layout = Layout::nhwc;
        test::expect_reference(problem);
        const auto form = native_form(problem);
        ASSERT_TRUE(form.ok());
        EXPECT_EQ(form->tensors.front().layout, "nhwc");
      }
    }
  }
}

TEST(NativeLayerNorm, RefusesALayoutThatScattersItsGroups) {
  for (const char* tokens : {"2x3x4x5-a2", "2x3x4x5", "2x3x4"}) {
    Problem problem = ops::op_test::problem("layer_norm", tokens);
    problem.layout = Layout::nhwc;
    const auto form = native_form(problem);
    ASSERT_FALSE(form.ok());
    EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(form.error().reason, ::testing::HasSubstr("leave `layout: nhwc` out"));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
