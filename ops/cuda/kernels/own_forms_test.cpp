// SPDX-License-Identifier: Apache-2.0
// Tests the native kernels on the CPU, element by element with the device's functions, against the
// operators' references.
#include "ops/cuda/kernels/own_forms.hpp"

#include "ops/cuda/kernels/host_launcher.hpp"
#include "ops/pointwise/functions.hpp"
#include "ops/post_op.hpp"
#include "ops/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::testing::problem;
using bench::ops::testing::random_inputs;
using bench::ops::testing::try_problem;
using ::testing::HasSubstr;

std::vector<std::byte> plain_of(const std::vector<double>& values, DataType dtype) {
  std::vector<std::byte> plain(values.size() * static_cast<std::size_t>(info(dtype).bytes));
  for (std::size_t i = 0; i < values.size(); ++i) store_element(dtype, plain.data(), i, values[i]);
  return plain;
}

// Runs a form on plain values of its inputs; returns the plain values of its last tensor.
std::vector<double> run(const NativeForm& form, const std::vector<std::vector<double>>& inputs) {
  std::vector<std::vector<std::byte>> buffers;
  std::vector<void*> addresses;
  for (const OwnTensor& tensor : form.tensors) {
    const auto size = static_cast<std::size_t>(tensor.arrangement.packed_size(tensor.dtype).count);
    buffers.emplace_back(size, std::byte{0xff});
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    addresses.push_back(buffers[i].data());
    if (i >= inputs.size()) continue;
    const auto plain = plain_of(inputs[i], form.tensors[i].dtype);
    arrange(form.tensors[i].arrangement, form.tensors[i].dtype, plain.data(), buffers[i].data());
  }
  EXPECT_TRUE(HostLauncher().launch(form.plan, addresses).ok());
  const OwnTensor& result = form.tensors.back();
  const auto elements = static_cast<std::size_t>(result.arrangement.plain_elements);
  std::vector<std::byte> plain(elements * static_cast<std::size_t>(info(result.dtype).bytes));
  restore(result.arrangement, result.dtype, buffers.back().data(), plain.data());
  std::vector<double> values;
  for (std::size_t i = 0; i < elements; ++i) {
    values.push_back(load_element(result.dtype, plain.data(), i));
  }
  return values;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                 const Tolerance& tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_LE(std::abs(got[i] - want[i]),
              tolerance.absolute + tolerance.relative * std::abs(want[i]))
        << what << ": element " << i << " is " << got[i] << ", expected " << want[i];
  }
}

void expect_reference(const Problem& problem) {
  const std::string what =
      fmt::format("{} {} {} layout {}", problem.op->name, problem_tokens(problem),
                  info(problem.dtype).name, static_cast<int>(problem.layout));
  const auto form = own_form(problem);
  ASSERT_TRUE(form.ok()) << what << ": " << form.error().reason;
  ASSERT_EQ(form->tensors.size(), problem.tensors.size()) << what;
  EXPECT_THAT(form->implementation, HasSubstr("bench:"));
  const auto inputs = random_inputs(problem, 5);
  expect_near(run(*form, inputs), reference_values(problem, inputs, 0, {}),
              problem.op->tolerance(problem), what);
}

// Tests every valid data type, direction and layout of a problem; returns their number.
int expect_all(std::string_view op, const std::string& tokens) {
  int tried = 0;
  for (const DataTypeInfo& type : data_types()) {
    for (const Direction direction : {Direction::forward, Direction::backward_data}) {
      auto made = try_problem(op, tokens, type.type, direction);
      if (!type.is_case_type || !made) continue;
      for (const Layout layout : {Layout::any, Layout::nchw, Layout::nhwc}) {
        made->layout = layout;
        expect_reference(*made);
        ++tried;
      }
    }
  }
  return tried;
}

TEST(OwnForms, PointwiseFunctionsOfOneTensor) {
  int tried = 0;
  for (const UnaryFunction& function : unary_functions()) {
    tried += expect_all("pointwise", fmt::format("{}-2x5x3x4", function.name));
  }
  EXPECT_GT(tried, 15 * 2 * 6 * 3);
  expect_all("pointwise", "relu-7");
  expect_all("pointwise", "swish-3x4");
  expect_all("pointwise", "hardswish-2x3x5");
  expect_all("pointwise", "leaky_relu-2x3x2x2x3+alpha0.25");
}

TEST(OwnForms, PointwiseFunctionsOfTwoTensors) {
  for (const BinaryFunction& function : binary_functions()) {
    for (const char* shapes : {"2x5x3x4-2x5x3x4", "2x5x3x4-5x1x1", "2x5x3x4-4", "5x1x1-2x5x3x4",
                               "2x1x3-1x4x1", "2x5x3x4-2x5x1x1", "3-1"}) {
      EXPECT_GT(expect_all("pointwise", fmt::format("{}-{}", function.name, shapes)), 0);
    }
  }
}

TEST(OwnForms, BatchNorm) {
  for (const char* tokens : {"n2c5h3w4", "n3c4w7", "n2c3d2h3w2", "n1c1h1", "n2c5h3eps0.1"}) {
    EXPECT_GT(expect_all("batch_norm", tokens), 0) << tokens;
  }
}

TEST(OwnForms, SoftmaxAlongEveryAxis) {
  for (const char* tokens : {"3x11", "40", "3x11-a0", "2x5x3x4-a0", "2x5x3x4-a1", "2x5x3x4-a2",
                             "2x5x3x4-a3", "2x5x3-a1", "1x300", "4x1"}) {
    EXPECT_GT(expect_all("softmax", tokens), 0) << tokens;
  }
}

TEST(OwnForms, ReordersBetweenAllLayouts) {
  for (const char* from : {"nchw", "nhwc", "blocked16"}) {
    for (const char* to : {"nchw", "nhwc", "blocked16"}) {
      for (const char* shape :
           {"2x5x3x4", "2x16x3x2", "1x35x7", "2x3x2x3x2", "2x1x4x4", "2x8x1x1"}) {
        EXPECT_GT(expect_all("reorder", fmt::format("{}-{}-{}", shape, from, to)), 0);
      }
    }
  }
}

// Block padding is written too, because consumers multiply it.
TEST(OwnForms, ReordersFillBlocksWithZeros) {
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

TEST(OwnForms, TransposesWhereTheOrderChanges) {
  const auto kind = [](const Dims& dims, MemoryLayout from, MemoryLayout to) {
    const auto form = reorder_form(dims, DataType::f16, from, to);
    return form.ok() ? form->implementation : form.error().reason;
  };
  EXPECT_EQ(kind({2, 3, 4, 5}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_tiled");
  EXPECT_EQ(kind({2, 3, 1, 1}, MemoryLayout::plain, MemoryLayout::nhwc), "bench:reorder_strided");
  EXPECT_EQ(kind({2, 3, 4, 5}, MemoryLayout::nhwc, MemoryLayout::blocked16),
            "bench:reorder_strided");
}

// Dense tensors need no division, because only one dimension is left.
TEST(OwnForms, DimensionsThatFollowEachOtherAreOne) {
  for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
    Problem relu = problem("pointwise", "relu-2x5x3x4");
    relu.layout = layout;
    const auto form = own_form(relu);
    ASSERT_TRUE(form.ok());
    const auto& plan = std::get<ElementwisePlan>(form->plan);
    EXPECT_EQ(plan.rank, 1);
    EXPECT_EQ(plan.elements, 120);
  }
  const auto stretched = own_form(problem("pointwise", "add-2x5x3x4-5x1x1"));
  ASSERT_TRUE(stretched.ok());
  EXPECT_EQ(std::get<ElementwisePlan>(stretched->plan).rank, 3);  // n, c, h*w
}

TEST(OwnForms, RefuseWhatExceedsOneLaunch) {
  const auto form = own_form(problem("pointwise", "add-2x3x2x3x2x3x2x3-2x1x2x1x2x1x2x1"));
  ASSERT_FALSE(form.ok());
  EXPECT_EQ(form.error().kind, Refusal::Kind::unsupported);
  EXPECT_THAT(form.error().reason, HasSubstr("6 dimensions"));
  const auto conv = own_form(problem("conv", "n2c4h5k6r3"));
  ASSERT_FALSE(conv.ok());
  EXPECT_THAT(conv.error().reason, HasSubstr("no native kernel for conv"));
}

// A convolution's reference without its epilogue, followed by the native epilogue, equals its
// reference.
TEST(Epilogue, IsWhatStandsBehindAConvolution) {
  for (const DataType dtype : {DataType::f64, DataType::f32, DataType::f16, DataType::s8}) {
    for (const char* behind : {"+bias", "+bias+relu", "+add+hardswish", "+bias+clip+add+gelu_erf",
                               "+bias+add+relu+add"}) {
      for (const MemoryLayout layout : {MemoryLayout::plain, MemoryLayout::nhwc}) {
        const std::string tokens = fmt::format("n2c4h5k6r3p1{}", behind);
        const Problem whole = problem("conv", tokens, dtype);
        const DataType between = dtype == DataType::f64 ? DataType::f64 : DataType::f32;
        const auto form = epilogue_form(whole, between, layout);
        ASSERT_TRUE(form.ok()) << form.error().reason;
        const auto inputs = random_inputs(whole, 11);
        const Problem alone = problem("conv", "n2c4h5k6r3p1", between);
        const std::vector<std::vector<double>> conv_inputs(inputs.begin(), inputs.begin() + 2);
        std::vector<std::vector<double>> values = {reference_values(alone, conv_inputs, 0, {})};
        values.insert(values.end(), inputs.begin() + 2, inputs.end());
        Tolerance tolerance = whole.op->tolerance(whole);
        if (info(dtype).is_integer) tolerance.absolute = 1;
        expect_near(run(*form, values), reference_values(whole, inputs, 0, {}), tolerance, tokens);
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
                    reference_values(gradient, inputs, 1, {}), gradient.op->tolerance(gradient),
                    tokens);
      }
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
