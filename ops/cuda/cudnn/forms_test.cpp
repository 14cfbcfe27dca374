// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/cudnn/forms.hpp"

#include "ops/cuda/cudnn/serving.hpp"
#include "ops/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using ::testing::ElementsAre;

ConvForm form_of_conv(const std::string& tokens, Direction direction = Direction::forward) {
  Problem made = problem("conv", tokens, DataType::f16, direction);
  made.layout = Layout::nhwc;
  const auto form = conv_form(made);
  EXPECT_TRUE(form.ok()) << tokens;
  return *form;
}

TEST(DenseStrides, OfBothLayouts) {
  const std::int64_t dims[] = {2, 3, 5, 7};
  EXPECT_THAT(dense_strides(dims, Layout::nchw), ElementsAre(105, 35, 7, 1));
  EXPECT_THAT(dense_strides(dims, Layout::nhwc), ElementsAre(105, 1, 21, 3));
  const std::int64_t matrix[] = {4, 6};
  EXPECT_THAT(dense_strides(matrix, Layout::nhwc), ElementsAre(6, 1));
}

TEST(ChosenLayout, FeedsTensorCoresWhereThereAreSome) {
  Problem made = problem("conv", "n2c4h5k6r3", DataType::f16);
  EXPECT_EQ(chosen_layout(made), Layout::nhwc);
  made.layout = Layout::nchw;
  EXPECT_EQ(chosen_layout(made), Layout::nchw);
  Problem single = problem("conv", "n2c4h5k6r3", DataType::f32);
  EXPECT_EQ(chosen_layout(single), Layout::nchw);
  single.math = Math::tf32;
  EXPECT_EQ(chosen_layout(single), Layout::nhwc);
  // Pointwise engines expect it too.
  EXPECT_EQ(chosen_layout(problem("pool", "max-n2c4h8r2", DataType::f32)), Layout::nhwc);
}

TEST(PaddedPart, IsOfForwardConvolutionsWithFewChannelsIn16Bits) {
  const auto channels = [](const char* tokens, DataType dtype = DataType::f16,
                           Layout layout = Layout::any,
                           Direction direction = Direction::forward) -> std::int64_t {
    Problem conv = problem("conv", tokens, dtype, direction);
    conv.layout = layout;
    const auto padded = padded_part(conv);
    if (!padded) return 0;
    EXPECT_EQ(padded->layout, Layout::nhwc);
    EXPECT_EQ(padded->parameters.count("c"), padded->tensors[0].dims[1]);
    EXPECT_EQ(padded->tensors[1].dims, conv.tensors[1].dims);
    EXPECT_EQ(padded->work, conv.work);
    return padded->tensors[0].dims[1];
  };
  EXPECT_EQ(channels("n2c3h9k16r3"), 4);
  EXPECT_EQ(channels("n2c1h9k16r3", DataType::bf16, Layout::nhwc), 4);
  EXPECT_EQ(channels("n2c5h9k16r3+bias+relu"), 8);
  EXPECT_EQ(channels("n2c4h9k16r3"), 0);
  EXPECT_EQ(channels("n2c9h9k16r3"), 0);
  EXPECT_EQ(channels("n2g3c3h9k15r3"), 0);
  EXPECT_EQ(channels("n2c3h9k16r3+transposed"), 0);
  EXPECT_EQ(channels("n2c3h9k16r3", DataType::f32), 0);
  EXPECT_EQ(channels("n2c3h9k16r3", DataType::s8), 0);
  EXPECT_EQ(channels("n2c3h9k16r3", DataType::f16, Layout::nchw), 0);
  EXPECT_EQ(channels("n2c3h9k16r3", DataType::f16, Layout::any, Direction::backward_data), 0);
  EXPECT_EQ(channels("n2c3h9k16r3", DataType::f16, Layout::any, Direction::backward_weights), 0);
}

TEST(ConvForm, OfAGroupedStridedConvolution) {
  const ConvForm form = form_of_conv("n2g2c4h9w7k6r3s2u2x1p1_0x0e1x2");
  EXPECT_EQ(form.kind, ConvKind::forward);
  EXPECT_THAT(form.x.dims, ElementsAre(2, 4, 9, 7));
  EXPECT_THAT(form.x.strides, ElementsAre(252, 1, 28, 4));
  EXPECT_THAT(form.w.dims, ElementsAre(6, 2, 3, 2));
  EXPECT_EQ(form.y.dims[1], 6);
  EXPECT_THAT(form.stride, ElementsAre(2, 1));
  EXPECT_THAT(form.dilation, ElementsAre(1, 2));
  EXPECT_THAT(form.pad_before, ElementsAre(1, 0));
  EXPECT_THAT(form.pad_after, ElementsAre(0, 0));
  EXPECT_EQ(form.x.uid, 1);
  EXPECT_EQ(form.w.uid, 2);
  EXPECT_EQ(form.y.uid, 3);
}

TEST(ConvForm, GradientsKnowWhichTensorIsWhich) {
  const ConvForm data = form_of_conv("n2c4h5k6r3p1", Direction::backward_data);
  EXPECT_EQ(data.kind, ConvKind::data);
  EXPECT_EQ(data.y.name, "diff_destination");
  EXPECT_EQ(data.w.name, "weights");
  EXPECT_EQ(data.x.name, "diff_source");
  const ConvForm weights = form_of_conv("n2c4h5k6r3p1", Direction::backward_weights);
  EXPECT_EQ(weights.kind, ConvKind::weights);
  EXPECT_EQ(weights.x.name, "source");
  EXPECT_EQ(weights.y.name, "diff_destination");
  EXPECT_EQ(weights.w.name, "diff_weights");
}

TEST(ConvForm, OneDimensionGetsAHeight) {
  const ConvForm form = form_of_conv("n2c4w9k6s3p1");
  EXPECT_THAT(form.x.dims, ElementsAre(2, 4, 1, 9));
  EXPECT_THAT(form.w.dims, ElementsAre(6, 4, 1, 3));
  EXPECT_THAT(form.y.dims, ElementsAre(2, 6, 1, 9));
  EXPECT_THAT(form.pad_before, ElementsAre(0, 1));
}

// Its destination is the input of the convolution that it runs backwards.
TEST(ConvForm, TransposedSwapsItsEnds) {
  const ConvForm form = form_of_conv("n2c4h5k6r3u2+transposed");
  EXPECT_EQ(form.kind, ConvKind::data);
  EXPECT_EQ(form.x.name, "destination");
  EXPECT_THAT(form.x.dims, ElementsAre(2, 6, 11, 11));
  EXPECT_EQ(form.y.name, "source");
  EXPECT_THAT(form.y.dims, ElementsAre(2, 4, 5, 5));
  EXPECT_THAT(form.w.dims, ElementsAre(4, 6, 3, 3));
  EXPECT_EQ(form_of_conv("n2c4h5k6r3u2+transposed", Direction::backward_data).kind,
            ConvKind::forward);
}

TEST(ConvForm, RefusesTheGradientOfABias) {
  const auto form =
      conv_form(problem("conv", "n2c4h5k6r3p1+bias", DataType::f16, Direction::backward_weights));
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(form.error().reason, ::testing::HasSubstr("gradient of the bias"));
}

}  // namespace
}  // namespace bench::ops::cuda
