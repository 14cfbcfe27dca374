// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/layer_norm/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

TEST(NativeLayerNorm, ComputesWhatTheReferenceDoes) {
  for (const char* tokens :
       {"16x768", "3x11", "40", "1x300", "4x1", "2x5x3x4-a0", "2x5x3x4-a1", "2x5x3x4-a2",
        "4x40+noscale", "4x40+noshift", "3x8x20-a1eps0.001+noscale+noshift"}) {
    for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::bf16,
                                 DataType::f8_e4m3, DataType::f8_e5m2}) {
      Problem problem = ops::op_test::problem("layer_norm", tokens, dtype);
      test::expect_reference(problem);
      problem.layout = Layout::nchw;
      test::expect_reference(problem);
    }
  }
}

TEST(NativeLayerNorm, RefusesALayoutThatScattersItsGroups) {
  Problem problem = ops::op_test::problem("layer_norm", "2x3x4x5-a1");
  problem.layout = Layout::nhwc;
  const auto form = native_form(problem);
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(form.error().reason, ::testing::HasSubstr("leave `layout: nhwc` out"));
}

}  // namespace
}  // namespace bench::ops::cuda
