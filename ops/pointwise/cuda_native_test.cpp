// SPDX-License-Identifier: Apache-2.0
// Tests the native kernel on the CPU against the reference.
#include "ops/cuda/kernels/test_support.hpp"
#include "ops/pointwise/functions.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using test::expect_all;

TEST(NativeForms, PointwiseFunctionsOfOneTensor) {
  int tried = 0;
  for (const UnaryFunction& function : unary_functions()) {
    tried += expect_all("pointwise", fmt::format("{}-2x5x3x4", function.name));
  }
  EXPECT_GT(tried, 15 * 2 * 6 * 3);
  expect_all("pointwise", "relu-7");
  expect_all("pointwise", "swish-3x4");
  expect_all("pointwise", "hardswish-2x3x5");
  expect_all("pointwise", "hardsigmoid-2x3x5");
  expect_all("pointwise", "leaky_relu-2x3x2x2x3+alpha0.25");
}

TEST(NativeForms, PointwiseFunctionsOfTwoTensors) {
  for (const BinaryFunction& function : binary_functions()) {
    for (const char* shapes : {"2x5x3x4-2x5x3x4", "2x5x3x4-5x1x1", "2x5x3x4-4", "5x1x1-2x5x3x4",
                               "2x1x3-1x4x1", "2x5x3x4-2x5x1x1", "3-1"}) {
      EXPECT_GT(expect_all("pointwise", fmt::format("{}-{}", function.name, shapes)), 0);
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
