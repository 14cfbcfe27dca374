// SPDX-License-Identifier: Apache-2.0
// Compares arrangements with the meaning of a convolution: follows every element of a problem's
// tensors by its indexes into the buffer that the graph describes with sizes and strides.
#include "ops/cuda/cudnn/cudnn_kernel.hpp"

#include "ops/conv/conv.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using ::testing::ElementsAre;

// Packs the plain elements 0, 1, 2, ...
std::vector<std::int32_t> packed_numbers(const Arrangement& arrangement) {
  std::vector<std::int32_t> plain(static_cast<std::size_t>(arrangement.plain_elements));
  std::iota(plain.begin(), plain.end(), 0);
  std::vector<std::int32_t> packed(static_cast<std::size_t>(arrangement.packed_elements), -1);
  arrange(arrangement, DataType::s32, plain.data(), packed.data());
  return packed;
}

// cuDNN's w[o][i][taps] of group g. For a plain convolution, o is an output channel and i an input
// channel of the group. A transposed convolution is a plain one run backwards, whose outputs are
// this problem's inputs.
TEST(PackedTensor, WeightsOfGroupsAndOfTransposedConvolutions) {
  for (const char* tokens : {"n1c4h5k6r3s2", "n1g2c4h5k6r3s2", "n1g2c4h5k6r3s2+transposed",
                             "n1c4w5k6s3+transposed", "n1g2c4d3h3k6t2r1s3+transposed"}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      Problem conv = problem("conv", tokens);
      conv.layout = layout;
      const ConvShape shape = conv_shape(conv.parameters);
      const auto form = conv_form(conv);
      ASSERT_TRUE(form.ok());
      const auto packed = packed_numbers(packed_tensor(conv, 1, form->w).arrangement);
      std::int64_t taps = 1;
      for (const SpatialAxis& axis : shape.axes) taps *= axis.kernel;
      const bool transposed = shape.sweep == Sweep::transposed;
      const std::int64_t tap_stride =
          layout == Layout::nhwc ? form->w.strides[1] * form->w.dims[1] : 1;
      for (std::int64_t k = 0; k < shape.k; ++k) {
        for (std::int64_t c = 0; c < shape.group_c(); ++c) {
          for (std::int64_t tap = 0; tap < taps; ++tap) {
            // Plain weights: [g, k/g, c/g, taps], so k runs over all groups.
            const std::int64_t plain = (k * shape.group_c() + c) * taps + tap;
            const std::int64_t first_c = k / shape.group_k() * shape.group_c();
            const std::int64_t outer = transposed ? first_c + c : k;
            const std::int64_t inner = transposed ? k % shape.group_k() : c;
            const std::int64_t place =
                outer * form->w.strides[0] + inner * form->w.strides[1] + tap * tap_stride;
            ASSERT_EQ(packed[static_cast<std::size_t>(place)], plain)
                << tokens << " " << k << " " << c;
          }
        }
      }
    }
  }
}

TEST(PackedTensor, ImagesInBothLayouts) {
  for (const auto& [layout, name] :
       {std::pair(Layout::nchw, "nchw"), std::pair(Layout::nhwc, "nhwc")}) {
    Problem conv = problem("conv", "n2c3h4w5k6r3p1");
    conv.layout = layout;
    const auto form = conv_form(conv);
    ASSERT_TRUE(form.ok());
    const PackedTensor source = packed_tensor(conv, 0, form->x);
    EXPECT_EQ(source.layout, name);
    const auto want = make_arrangement(
        conv.tensors[0].dims, layout == Layout::nhwc ? MemoryLayout::nhwc : MemoryLayout::plain);
    EXPECT_EQ(packed_numbers(source.arrangement), packed_numbers(want));
  }
}

TEST(PackedTensor, OneDimensionIsOneRow) {
  Problem conv = problem("conv", "n2c3w5k6s3p1", DataType::f16);
  const auto form = conv_form(conv);
  ASSERT_TRUE(form.ok());
  EXPECT_EQ(packed_numbers(packed_tensor(conv, 0, form->x).arrangement),
            packed_numbers(make_arrangement(conv.tensors[0].dims, MemoryLayout::nhwc)));
}

TEST(PackedTensor, AVarianceIsStoredAsItsInverseDeviation) {
  const Problem norm = problem("batch_norm", "n2c3h4");
  const TensorForm form = tensor_form(norm, 2, {1, 3, 1, 1}, Layout::nhwc);
  EXPECT_EQ(packed_tensor(norm, 2, form).values, PackedValues::inverse_deviation);
  EXPECT_EQ(packed_tensor(norm, 1, form).values, PackedValues::unchanged);
  EXPECT_EQ(packed_tensor(norm, 2, form).layout, "plain");
  std::vector<float> values = {0.24F, 3.99F};
  to_inverse_deviation(DataType::f32, values.data(), 2, 0.01);
  EXPECT_FLOAT_EQ(values[0], 2);
  EXPECT_FLOAT_EQ(values[1], 0.5);
  from_inverse_deviation(DataType::f32, values.data(), 2, 0.01);
  EXPECT_NEAR(values[0], 0.24, 1e-6);
  EXPECT_NEAR(values[1], 3.99, 1e-5);
}

// Graphs describe three dimensions in another order; the memory is row-major.
TEST(PackedTensor, ElementsWithoutChannelsArePlain) {
  const Problem relu = problem("pointwise", "relu-2x3x5");
  const TensorForm form = tensor_form(relu, 0, {1, 5, 2, 3}, Layout::nhwc);
  const PackedTensor packed = packed_tensor(relu, 0, form);
  EXPECT_EQ(packed.layout, "nchw");
  const auto numbers = packed_numbers(packed.arrangement);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], static_cast<std::int32_t>(i));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
