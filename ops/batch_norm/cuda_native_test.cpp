// SPDX-License-Identifier: Apache-2.0
// Tests the native kernels on the CPU against the reference.
#include "ops/batch_norm/cuda_native.hpp"

#include "ops/cuda/kernels/test_support.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

using test::expect_all;

TEST(NativeForms, BatchNorm) {
  for (const char* tokens : {"n2c5h3w4", "n3c4w7", "n2c3d2h3w2", "n1c1h1", "n2c5h3eps0.1",
                             "n2c5h3+noscale", "n2c5h3+noshift", "n2c5h3+noscale+noshift"}) {
    EXPECT_GT(expect_all("batch_norm", tokens), 0) << tokens;
  }
}

// Blocks of channels that are full or not, in layouts with channels outside and inside.
TEST(NativeForms, BatchNormInTrainingAndItsGradients) {
  for (const char* tokens : {"n2c5h3w4", "n3c8w7", "n2c3d2h3w2", "n1c1h1", "n4c4w1",
                             "n2c5h3eps0.1+noscale", "n2c5h3+noshift", "n2c6h3+noscale+noshift"}) {
    for (const char* mode : {"", "training-"}) {
      for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::bf16,
                                   DataType::f8_e4m3, DataType::f8_e5m2}) {
        for (const Direction direction :
             {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
          Problem problem =
              ops::op_test::problem("batch_norm", std::string(mode) + tokens, dtype, direction);
          for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
            problem.layout = layout;
            test::expect_reference(problem);
          }
        }
      }
    }
  }
}

TEST(NativeForms, BatchNormSumsWholeChannelsInOneKernel) {
  const auto kernel_of = [](const char* tokens, Direction direction, Layout layout) {
    Problem problem = ops::op_test::problem("batch_norm", tokens, DataType::f16, direction);
    problem.layout = layout;
    const auto form = native_form(problem);
    return form.ok() ? std::string(form->plan.kernel()) : form.error().reason;
  };
  EXPECT_EQ(kernel_of("n2c5h3", Direction::forward, Layout::any), "elementwise");
  EXPECT_EQ(kernel_of("n2c5h3", Direction::backward_data, Layout::any), "elementwise");
  EXPECT_EQ(kernel_of("n2c5h3", Direction::backward_weights, Layout::any), "batch_norm");
  Problem problem = ops::op_test::problem("batch_norm", "training-n2c5h3", DataType::f16);
  problem.layout = Layout::nhwc;
  const auto form = native_form(problem);
  ASSERT_TRUE(form.ok());
  EXPECT_EQ(form->tensors.front().layout, "nhwc");
  EXPECT_EQ(form->plan.as<BatchNormPlan>().rows(), 3);  // two pairs and a single channel
  EXPECT_EQ(kernel_of("training-n2c5h3", Direction::backward_data, Layout::nchw), "batch_norm");
}

}  // namespace
}  // namespace bench::ops::cuda
