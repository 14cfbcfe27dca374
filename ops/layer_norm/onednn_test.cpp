// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/kernel.hpp"
#include "ops/onednn/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace bench::ops {
namespace {

using op_test::expect_computes;
using op_test::Outcome;
using op_test::problem;

TEST(LayerNormOnednn, ComputesWhatTheReferenceDoes) {
  const std::unique_ptr<Backend> backend = make_onednn_backend();
  for (const char* tokens :
       {"16x768", "1x1024", "7", "2x5x40", "2x3x4x5-a1", "2x3x4x5-a0", "2x2x2x2x2x2x33", "5x1",
        "training-16x768", "training-2x3x4x5-a1+noscale", "4x40+noscale", "4x40+noshift",
        "3x8x20-a1eps0.001+noscale+noshift"}) {
    for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
      for (const Direction direction :
           {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
        const Problem norm = problem("layer_norm", tokens, dtype, direction);
        if (direction == Direction::backward_data && norm.parameters.flag("scale")) {
          if (dtype != DataType::f32) continue;  // this CPU may lack the others
          EXPECT_THAT(backend->create(norm).error().reason,
                      ::testing::HasSubstr("backend: native"));
        } else {
          expect_computes(*backend, norm);
        }
      }
    }
  }
  EXPECT_EQ(expect_computes(*backend, problem("layer_norm", "16x768")), Outcome::computed);
}

TEST(LayerNormOnednn, RefusesImagesThatAreNotPlain) {
  const std::unique_ptr<Backend> backend = make_onednn_backend();
  Problem images = problem("layer_norm", "2x3x4x5-a1");
  images.layout = Layout::nhwc;
  const auto kernel = backend->create(images);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(kernel.error().reason, ::testing::HasSubstr("leave `layout: nhwc` out"));
  images.layout = Layout::nchw;
  EXPECT_TRUE(backend->create(images).ok());
}

}  // namespace
}  // namespace bench::ops
