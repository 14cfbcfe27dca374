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

constexpr Direction kNormDirections[] = {Direction::forward, Direction::backward_data,
                                         Direction::backward_weights};

TEST(BatchNormOnednn, ComputesWhatTheReferenceDoes) {
  const std::unique_ptr<Backend> backend = make_onednn_backend();
  for (const char* tokens :
       {"n2c16h9", "n3c5h4w7", "n1c64h7", "n2c16w9", "n4c40w1", "n2c16d3h5",
        "n2c16h9eps0.001+noscale", "n2c16h9+noshift", "n2c5h4+noscale+noshift"}) {
    for (const char* mode : {"", "training-"}) {
      for (const DataType dtype : {DataType::f32, DataType::bf16, DataType::f16}) {
        for (const Direction direction : kNormDirections) {
          Problem norm =
              op_test::problem("batch_norm", std::string(mode) + tokens, dtype, direction);
          for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
            norm.layout = layout;
            expect_computes(*backend, norm);
          }
        }
      }
    }
  }
}

// The library demands source and mean, which the gradient with given statistics does not read.
TEST(BatchNormOnednn, TheGradientWithGivenStatisticsNeedsNoSource) {
  const std::unique_ptr<Backend> backend = make_onednn_backend();
  const Problem norm =
      op_test::problem("batch_norm", "n2c16h9", DataType::f32, Direction::backward_data);
  EXPECT_EQ(expect_computes(*backend, norm), Outcome::computed);
  const auto kernel = backend->create(norm);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->buffers().size(), norm.tensors.size());
}

TEST(BatchNormOnednn, RefusesTypesThatTheLibraryLacks) {
  const std::unique_ptr<Backend> backend = make_onednn_backend();
  for (const DataType dtype : {DataType::f64, DataType::f8_e4m3}) {
    for (const Direction direction : kNormDirections) {
      const auto kernel =
          backend->create(op_test::problem("batch_norm", "training-n2c16h9", dtype, direction));
      ASSERT_FALSE(kernel.ok());
      EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
      EXPECT_FALSE(kernel.error().reason.empty());
    }
  }
}

}  // namespace
}  // namespace bench::ops
