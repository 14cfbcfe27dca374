// SPDX-License-Identifier: Apache-2.0
// Tests the native kernels on the CPU, element by element with the device's functions, against the
// operators' references.
#include "ops/cuda/kernels/native_forms.hpp"

#include "ops/cuda/kernels/plans.hpp"
#include "ops/cuda/kernels/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using bench::ops::op_test::random_inputs;
using test::expect_near;
using test::run;
using ::testing::HasSubstr;

// Block padding is written too, because consumers multiply it.
TEST(NativeForms, ReordersFillBlocksWithZeros) {
  const auto form =
      reorder_form({1, 3, 2}, DataType::f32, MemoryLayout::plain, MemoryLayout::blocked16);
  ASSERT_TRUE(form.ok());
  std::vector<float> source = {1, 2, 3, 4, 5, 6}, destination(32, -1);
  void* const addresses[] = {source.data(), destination.data()};
  ASSERT_TRUE(HostLauncher().launch(form->plan, addresses).ok());
  std::vector<float> want(32, 0);
  want[0] = 1, want[16] = 2, want[1] = 3, want[17] = 4, want[2] = 5, want[18] = 6;
  EXPECT_EQ(destination, want);
}

TEST(NativeForms, TransposesWhereTheOrderChanges) {
  const auto kind = [](const Dims& dims, MemoryLayout from, MemoryLayout to) {
    const auto form = reorder_form(dims, DataType::f16, from, to);
    return form.ok() ? form->implementation : form.error().reason;
  };
  EXPECT_EQ(kind({2, 64, 8, 8}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_tiled");
  EXPECT_EQ(kind({2, 3, 8, 8}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_pixels");
  EXPECT_EQ(kind({2, 3, 8, 8}, MemoryLayout::nhwc, MemoryLayout::plain), "bench:reorder_pixels");
  EXPECT_EQ(kind({2, 64, 2, 2}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_pixels");
  EXPECT_EQ(kind({2, 3, 1, 1}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_strided");
  EXPECT_EQ(kind({2, 3, 4, 5}, MemoryLayout::nhwc, MemoryLayout::blocked16),
            "bench:reorder_strided");
}

// Few channels or few positions: whole pixels are moved, with accesses as wide as they allow.
TEST(NativeForms, TransposesOfFewChannelsMoveEveryValue) {
  for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::s8}) {
    for (const std::int64_t channels : {1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 24}) {
      for (const auto& [from, to] : {std::pair(MemoryLayout::plain, MemoryLayout::nhwc),
                                     std::pair(MemoryLayout::nhwc, MemoryLayout::plain)}) {
        for (const std::int64_t width : {2, 9}) {
          const Dims dims = {3, channels, 5, width};
          const auto form = reorder_form(dims, dtype, from, to);
          ASSERT_TRUE(form.ok());
          std::vector<double> values(static_cast<std::size_t>(3 * channels * 5 * width));
          for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<double>(i % 101) - 50;
          }
          EXPECT_EQ(run(*form, {values}), values)
              << info(dtype).name << " " << channels << " channels, width " << width;
        }
      }
    }
  }
}

TEST(NativeForms, PaddingAppendsZerosToEachPixel) {
  for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::s8}) {
    for (const auto& [channels, padded] :
         {std::pair(1, 4), std::pair(3, 4), std::pair(5, 8), std::pair(3, 5), std::pair(4, 4)}) {
      const NativeForm form = padding_form({2, channels, 3, 5}, dtype, padded);
      EXPECT_EQ(form.implementation, "bench:pad_channels");
      std::vector<double> values(static_cast<std::size_t>(2 * channels * 3 * 5));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 101) + 1;
      EXPECT_EQ(run(form, {values}), values) << info(dtype).name << " " << channels;
      const NativeTensor& destination = form.tensors.back();
      EXPECT_EQ(destination.arrangement.packed_elements, 2 * padded * 3 * 5);
      EXPECT_EQ(destination.layout, fmt::format("nhwc with {} channels", padded));
    }
  }
  const NativeForm form = padding_form({1, 3, 1, 2}, DataType::f32, 4);
  std::vector<float> source = {1, 2, 3, 4, 5, 6}, destination(8, -1);
  void* const addresses[] = {source.data(), destination.data()};
  ASSERT_TRUE(HostLauncher().launch(form.plan, addresses).ok());
  EXPECT_EQ(destination, (std::vector<float>{1, 2, 3, 0, 4, 5, 6, 0}));
}

// Dense tensors need no division, because only one dimension is left.
TEST(NativeForms, DimensionsThatFollowEachOtherAreOne) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    Problem relu = problem("pointwise", "relu-2x5x3x4");
    relu.layout = layout;
    const auto form = native_form(relu);
    ASSERT_TRUE(form.ok());
    const auto plan = form->plan.as<ElementwisePlan>();
    EXPECT_EQ(plan.rank, 1);
    EXPECT_EQ(plan.elements, 120);
  }
  const auto stretched = native_form(problem("pointwise", "add-2x5x3x4-5x1x1"));
  ASSERT_TRUE(stretched.ok());
  EXPECT_EQ(stretched->plan.as<ElementwisePlan>().rank, 3);  // n, c, h*w
}

// 16 bytes are loaded and stored at once where memory limits the launch.
TEST(NativeForms, CheapStepsOnContiguousElementsComeInRuns) {
  struct Row {
    const char* op;
    const char* tokens;
    DataType dtype;
    Layout layout;
    int run;
  };
  const Row rows[] = {
      {"pointwise", "relu-2x16x3x4", DataType::f16, Layout::nhwc, 8},
      {"pointwise", "relu-2x16x3x4", DataType::bf16, Layout::nchw, 8},
      {"pointwise", "relu-2x16x3x4", DataType::f32, Layout::nhwc, 4},
      {"pointwise", "relu-2x3x3x3", DataType::f16, Layout::nhwc, 1},   // 54 elements
      {"pointwise", "relu-2x16x3x4", DataType::f64, Layout::nhwc, 1},  // another precision
      {"pointwise", "relu-2x16x3x4", DataType::s8, Layout::nhwc, 1},
      {"pointwise", "tanh-2x16x3x4", DataType::f16, Layout::nhwc, 1},  // arithmetic limits it
      {"pointwise", "add-2x16x3x4-2x16x3x4", DataType::f16, Layout::nhwc, 8},
      {"pointwise", "add-2x16x3x4-16x1x1", DataType::f16, Layout::nhwc, 8},
      {"pointwise", "add-2x16x2x4-16x1x1", DataType::f16, Layout::nchw, 8},  // constant in a plane
      {"pointwise", "add-2x16x3x3-16x1x1", DataType::f16, Layout::nchw, 1},  // planes of 9
      {"pointwise", "max-2x16x3x8-3x8", DataType::bf16, Layout::nchw, 8},
  };
  for (const Row& row : rows) {
    Problem asked = problem(row.op, row.tokens, row.dtype);
    asked.layout = row.layout;
    const auto form = native_form(asked);
    ASSERT_TRUE(form.ok()) << row.tokens;
    EXPECT_EQ(form->plan.as<ElementwisePlan>().run, row.run)
        << row.tokens << " " << info(row.dtype).name;
    test::expect_reference(asked);
  }
}

TEST(NativeForms, RefuseWhatExceedsOneLaunch) {
  const auto form = native_form(problem("pointwise", "add-2x3x2x3x2x3x2x3-2x1x2x1x2x1x2x1"));
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(form.error().reason, HasSubstr("6 dimensions"));
  const auto conv = native_form(problem("conv", "n2c4h5k6r3"));
  ASSERT_FALSE(conv.ok());
  EXPECT_THAT(conv.error().reason, HasSubstr("no native kernel for conv"));
}

// A convolution's reference without its epilogue, followed by the native epilogue, equals the
// reference of the complete convolution.
TEST(Epilogue, IsWhatStandsBehindAConvolution) {
  for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::s8}) {
    for (const char* behind : {"+bias", "+bias+relu", "+add+hardswish", "+bias+clip+add+gelu_erf",
                               "+bias+add+relu+add"}) {
      for (const auto& [layout, k] :
           {std::pair(MemoryLayout::plain, 6), std::pair(MemoryLayout::nhwc, 6),
            std::pair(MemoryLayout::nhwc, 16)}) {
        const std::string tokens = fmt::format("n2c4h5k{}r3p1{}", k, behind);
        const Problem complete_problem = problem("conv", tokens, dtype);
        const DataType between = dtype == DataType::f64 ? DataType::f64 : DataType::f32;
        const auto form = epilogue_form(complete_problem, between, layout);
        ASSERT_TRUE(form.ok()) << form.error().reason;
        const auto inputs = random_inputs(complete_problem, 11);
        const Problem alone = problem("conv", fmt::format("n2c4h5k{}r3p1", k), between);
        const std::vector<std::vector<double>> conv_inputs(inputs.begin(), inputs.begin() + 2);
        std::vector<std::vector<double>> values = {built_in_reference(alone, conv_inputs, 0, {})};
        values.insert(values.end(), inputs.begin() + 2, inputs.end());
        Tolerance tolerance = complete_problem.op->tolerance(complete_problem);
        if (info(dtype).is_integer) tolerance.absolute = 1;
        expect_near(run(*form, values), built_in_reference(complete_problem, inputs, 0, {}),
                    tolerance, tokens);
      }
    }
  }
}

TEST(BiasGradient, IsTheSumOfEachChannel) {
  for (const DataType dtype : {DataType::f64, DataType::f32, DataType::bf16}) {
    for (const char* tokens : {"n3c4h5k6r3p1+bias", "n2c4w9k5s3+bias", "n2c2d3h3w2k3t1r1s1+bias"}) {
      for (const MemoryLayout layout : {MemoryLayout::plain, MemoryLayout::nhwc}) {
        const Problem gradient = problem("conv", tokens, dtype, Direction::backward_weights);
        const auto inputs = random_inputs(gradient, 7);
        expect_near(run(bias_gradient_form(gradient, layout), {inputs[1]}),
                    built_in_reference(gradient, inputs, 1, {}), gradient.op->tolerance(gradient),
                    tokens);
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
