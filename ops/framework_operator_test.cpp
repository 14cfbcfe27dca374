// SPDX-License-Identifier: Apache-2.0
#include "ops/framework_operator.hpp"

#include "profiler/nvtx/framework_range.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace bench::ops {
namespace {

using Shape = FrameworkRange::Shape;
using Shapes = std::vector<Shape>;

// Formats the work of a call: "conv 1204224 602112 MAC", "pointwise relu-2x4 8"; "n/a" if the call
// is not understood.
std::string work(std::string_view name, const Shapes& inputs, std::optional<Shape> output = {}) {
  const FrameworkCall call{name, &inputs, output ? &*output : nullptr};
  const auto work = compute_framework_work(call);
  if (!work) return "n/a";
  std::string text = work->op;
  if (!work->parameters.empty()) text += " " + work->parameters;
  text += fmt::format(" {}", work->flops);
  if (work->macs) text += fmt::format(" {} MAC", *work->macs);
  return text;
}

TEST(FrameworkOperator, ConvolutionsNeedTheShapeOfTheirResult) {
  const Shapes stem = {{32, 3, 224, 224}, {64, 3, 7, 7}, {}, {}, {}, {}, {}};
  EXPECT_EQ(work("aten::conv2d", stem), "n/a");
  // The stem of ResNet-50, as in docs/work_model.md: stride and padding do not matter.
  EXPECT_EQ(work("aten::conv2d", stem, Shape{32, 64, 112, 112}), "conv 7552892928 3776446464 MAC");
  EXPECT_EQ(work("conv2d", stem, Shape{32, 64, 112, 112}), "conv 7552892928 3776446464 MAC");
  // A shape that is not a possible result.
  EXPECT_EQ(work("aten::conv2d", stem, Shape{32, 65, 112, 112}), "n/a");
  EXPECT_EQ(work("aten::conv2d", stem, Shape{32, 64, 112}), "n/a");
  // Depthwise, with a bias: 2*2*8*64*9 + 2*8*64.
  EXPECT_EQ(work("aten::conv2d", {{2, 8, 8, 8}, {8, 1, 3, 3}, {8}}, Shape{2, 8, 8, 8}),
            "conv 19456 9216 MAC");
  EXPECT_EQ(work("aten::conv1d", {{1, 2, 10}, {4, 2, 3}}, Shape{1, 4, 8}), "conv 384 192 MAC");
  EXPECT_EQ(work("aten::conv3d", {{1, 2, 4, 4, 4}, {1, 2, 2, 2, 2}}, Shape{1, 1, 3, 3, 3}),
            "conv 864 432 MAC");
  // Not batched: the shapes do not fit.
  EXPECT_EQ(work("aten::conv2d", {{3, 8, 8}, {4, 3, 3, 3}}, Shape{4, 6, 6}), "n/a");
}

// As recorded with emit_nvtx on an H100: (gradient of the output, input, weight).
TEST(FrameworkOperator, ABackwardConvolutionHasTheWorkOfEachGradient) {
  const Shapes inputs = {{16, 128, 56, 56}, {16, 64, 56, 56}, {128, 64, 3, 3}, {}, {}};
  EXPECT_EQ(work("aten::convolution_backward", inputs), "conv 7398752256 3699376128 MAC");
  const FrameworkCall call{"aten::convolution_backward", &inputs, nullptr};
  EXPECT_EQ(compute_framework_work(call)->extent, GpuOperatorWork::Extent::each_gradient);
  // The shapes also fit a transposed convolution.
  EXPECT_EQ(work("aten::convolution_backward", {{2, 4, 4, 4}, {2, 4, 8, 8}, {4, 4, 3, 3}}), "n/a");
  EXPECT_EQ(work("aten::convolution_backward", {{2, 4, 8, 8}}), "n/a");
}

TEST(FrameworkOperator, AConvolutionWhoseShapesAllowATransposedOneIsUnknown) {
  EXPECT_EQ(work("aten::convolution", {{2, 3, 8, 8}, {4, 3, 3, 3}}, Shape{2, 4, 8, 8}),
            "conv 27648 13824 MAC");
  EXPECT_EQ(work("aten::convolution", {{2, 4, 8, 8}, {4, 4, 3, 3}}, Shape{2, 4, 4, 4}), "n/a");
  // Transposed or not, the FLOPs are the same.
  EXPECT_EQ(work("aten::convolution", {{2, 4, 8, 8}, {4, 4, 3, 3}}, Shape{2, 4, 8, 8}),
            "conv 36864 18432 MAC");
  EXPECT_EQ(work("aten::conv_transpose2d", {{2, 8, 8, 8}, {8, 4, 2, 2}}), "conv 32768 16384 MAC");
  EXPECT_EQ(work("aten::conv_transpose2d", {{2, 8, 8, 8}, {8, 4, 2, 2}, {4}}), "n/a");
  EXPECT_EQ(work("aten::conv_transpose2d", {{2, 8, 8, 8}, {8, 4, 2, 2}, {4}}, Shape{2, 4, 16, 16}),
            "conv 34816 16384 MAC");
}

TEST(FrameworkOperator, ProductsFollowFromTheirInputs) {
  EXPECT_EQ(work("aten::linear", {{64, 512}, {1024, 512}, {}}), "gemm 67108864 33554432 MAC");
  EXPECT_EQ(work("aten::linear", {{2, 8}, {10, 8}, {10}}), "gemm 340 160 MAC");
  EXPECT_EQ(work("aten::linear", {{2, 5, 8}, {10, 8}}), "gemm 1600 800 MAC");
  EXPECT_EQ(work("aten::mm", {{2, 10}, {10, 64}}), "gemm 2560 1280 MAC");
  EXPECT_EQ(work("aten::addmm", {{10}, {2, 64}, {64, 10}, {}, {}}), "gemm 2580 1280 MAC");
  EXPECT_EQ(work("aten::bmm", {{2, 3, 4}, {2, 4, 5}}), "gemm 240 120 MAC");
  EXPECT_EQ(work("aten::matmul", {{8, 16, 128, 64}, {8, 16, 64, 128}}),
            "gemm 268435456 134217728 MAC");
  EXPECT_EQ(work("aten::matmul", {{7, 1, 3, 4}, {2, 4, 5}}), "gemm 1680 840 MAC");
  EXPECT_EQ(work("aten::matmul", {{4}, {4}}), "gemm 8 4 MAC");
  EXPECT_EQ(work("aten::mv", {{3, 4}, {4}}), "gemm 24 12 MAC");
  EXPECT_EQ(work("aten::mm", {{2, 3}, {4, 5}}), "n/a");
  EXPECT_EQ(work("aten::bmm", {{2, 3, 4}, {3, 4, 5}}), "n/a");
  EXPECT_EQ(work("aten::mm", {{2, 3}}), "n/a");
}

TEST(FrameworkOperator, ElementwiseOnesNeedOneShape) {
  EXPECT_EQ(work("aten::relu", {{32, 64, 112, 112}}), "pointwise relu-32x64x112x112 25690112");
  EXPECT_EQ(work("aten::relu_", {{2, 3}}), "pointwise relu-2x3 6");
  EXPECT_EQ(work("aten::clamp_min", {{2, 3}, {}}), "pointwise 6");
  EXPECT_EQ(work("aten::threshold_backward", {{2, 3}, {2, 3}, {}}), "pointwise 6");
  EXPECT_EQ(work("aten::threshold_backward", {{2, 3}, {3, 2}, {}}), "n/a");
  EXPECT_EQ(work("aten::tanh_backward", {{2, 3}, {2, 3}}), "pointwise 18");
  EXPECT_EQ(work("aten::add", {{4, 1024}, {1024}, {}}), "pointwise 4096");
  EXPECT_EQ(work("aten::mul", {{4}, {}}), "pointwise 4");
  EXPECT_EQ(work("aten::add_", {{}, {}, {}}), "n/a");
  EXPECT_EQ(work("aten::_softmax", {{2, 3, 5}, {}, {}}), "softmax 120");
  EXPECT_EQ(work("aten::copy_", {{2, 10}, {2, 10}, {}}), "reorder 0");
}

TEST(FrameworkOperator, AdaptiveAveragePoolsNeedWindowsOfEqualSize) {
  EXPECT_EQ(work("aten::adaptive_avg_pool2d", {{2, 8, 8, 8}, {}}), "n/a");
  EXPECT_EQ(work("aten::adaptive_avg_pool2d", {{2, 8, 8, 8}, {}}, Shape{2, 8, 1, 1}), "pool 1024");
  EXPECT_EQ(work("aten::adaptive_avg_pool2d", {{2, 8, 8, 8}, {}}, Shape{2, 8, 2, 4}), "pool 1024");
  EXPECT_EQ(work("aten::adaptive_avg_pool2d", {{2, 8, 8, 8}, {}}, Shape{2, 8, 3, 3}), "n/a");
}

TEST(FrameworkOperator, WhatShapesDoNotDecideStaysUnknown) {
  for (const char* name :
       {"aten::max_pool2d", "aten::avg_pool2d", "aten::batch_norm", "aten::native_batch_norm",
        "aten::gelu", "aten::convolution_backward", "aten::view", "aten::dropout", "step"}) {
    EXPECT_EQ(work(name, {{2, 8, 8, 8}, {8}, {8}}, Shape{2, 8, 8, 8}), "n/a") << name;
  }
}

// Like `work`, with bytes and data type, from one of PyProf's markers.
std::string work_of_marker(const std::string& op, const std::string& arguments) {
  const std::string text =
      "{'mod': 'torch.nn.functional', 'op': '" + op + "', 'args': [" + arguments + "]}";
  const auto marker = parse_pyprof_marker(text);
  if (!marker) return "no marker";
  const auto work =
      compute_framework_work({marker->name, &marker->inputs, nullptr, &marker->arguments});
  if (!work) return "n/a";
  return fmt::format("{} {} {} {} {}", work->op, work->parameters, work->flops,
                     work->bytes ? fmt::to_string(*work->bytes) : "n/a", work->dtype);
}

std::string tensor(const std::string& shape, const std::string& dtype = "float16") {
  return "{'name': '', 'type': 'tensor', 'shape': (" + shape + "), 'dtype': '" + dtype + "'}";
}
std::string value(const std::string& type, const std::string& text, const std::string& name = "") {
  return ", {'name': '" + name + "', 'type': '" + type + "', 'value': " + text + "}";
}

// The values of docs/work_model.md.
TEST(FrameworkOperator, MarkersOfPyProfTellAllArguments) {
  EXPECT_EQ(work_of_marker("conv2d", tensor("32, 3, 224, 224") + ", " + tensor("64, 3, 7, 7") +
                                         value("NoneType", "None") + value("tuple", "(2, 2)") +
                                         value("tuple", "(3, 3)") + value("tuple", "(1, 1)") +
                                         value("int", "1")),
            "conv n32c3h224w224k64r7s7u2p3 7552892928 61032832 f16");
  EXPECT_EQ(work_of_marker("max_pool2d", tensor("32, 64, 112, 112") + value("int", "3") +
                                             value("int", "2") + value("int", "1") +
                                             value("int", "1") + value("bool", "False")),
            "pool max-n32c64h112w112r3u2p1 51380224 64225280 f16");
  EXPECT_EQ(work_of_marker("linear", tensor("64, 512") + ", " + tensor("1024, 512")),
            "gemm  67108864 1245184 f16");
  EXPECT_EQ(work_of_marker("matmul", tensor("8, 16, 128, 64") + ", " + tensor("8, 16, 64, 128")),
            "gemm  268435456 8388608 f16");
  EXPECT_EQ(work_of_marker("__iadd__", tensor("4, 1024") + ", " + tensor("1024,")),
            "pointwise  4096 18432 f16");
  EXPECT_EQ(work_of_marker("relu", tensor("32, 64, 112, 112", "bfloat16")),
            "pointwise relu-32x64x112x112 25690112 102760448 bf16");
}

// (input, running_mean, running_var, weight, bias, training, momentum, eps)
TEST(FrameworkOperator, MarkersOfABatchNormTellWhetherItTrains) {
  const std::string image = tensor("2, 8, 8, 8"), none = value("NoneType", "None");
  const std::string channels = ", " + tensor("8,", "float32");
  const std::string all = image + channels + channels + channels + channels;
  EXPECT_EQ(work_of_marker("batch_norm", all), "batch_norm n2c8h8w8 4096 n/a ");
  EXPECT_EQ(work_of_marker("batch_norm", all + value("bool", "False")),
            "batch_norm n2c8h8w8 4096 n/a ");
  EXPECT_EQ(work_of_marker("batch_norm", all + value("bool", "True")),
            "batch_norm training-n2c8h8w8 8192 n/a ");
  EXPECT_EQ(work_of_marker("batch_norm", image + none + none + none + none + value("bool", "True")),
            "batch_norm training-n2c8h8w8+noscale+noshift 6144 4160 f16");
}

// Each input counts once at its size. Earlier, the weights of a product with shared weights were
// counted once per matrix of the source (16,777,216 B in the first case).
TEST(FrameworkOperator, BroadcastInputsOfAProductAreCountedOnce) {
  struct Row {
    std::string op, a, b;
    std::int64_t flops, elements;
  };
  const std::vector<Row> rows = {
      {"matmul", "8, 16, 128, 64", "64, 128", 268'435'456, 12'615'680 / 4},
      {"matmul", "8, 1, 128, 64", "1, 16, 64, 128", 268'435'456, 9'175'040 / 4},  // 8.75 MiB
      {"matmul", "128, 64", "8, 16, 64, 128", 268'435'456, 8192 + 1'048'576 + 2'097'152},
      {"matmul", "5, 8, 16", "1, 16, 4", 5 * 2 * 8 * 4 * 16, 5 * 8 * 16 + 16 * 4 + 5 * 8 * 4},
      {"matmul", "8, 16, 128, 64", "64,", 2'097'152, 1'048'576 + 64 + 8 * 16 * 128},
      {"matmul", "64,", "8, 16, 64, 128", 2'097'152, 64 + 1'048'576 + 8 * 16 * 128},
      {"mv", "128, 64", "64,", 16'384, 128 * 64 + 64 + 128},
      {"matmul", "64,", "64, 128", 16'384, 64 + 64 * 128 + 128},
      {"dot", "64,", "64,", 128, 64 + 64 + 1},
      {"linear", "2, 5, 8", "10, 8", 1600, 80 + 80 + 100},
      {"linear", "2, 5, 8", "8,", 160, 80 + 8 + 10},
  };
  for (const Row& row : rows) {
    for (const auto& [dtype, name, size] :
         {std::tuple("float32", "f32", 4), {"float16", "f16", 2}}) {
      EXPECT_EQ(work_of_marker(row.op, tensor(row.a, dtype) + ", " + tensor(row.b, dtype)),
                fmt::format("gemm  {} {} {}", row.flops, row.elements * size, name))
          << row.op << " " << row.a;
    }
  }
  // The addend also counts once at its size: 10 + 2*64 + 64*10 + 2*10.
  EXPECT_EQ(
      work_of_marker("addmm", tensor("10,") + ", " + tensor("2, 64") + ", " + tensor("64, 10")),
      "gemm  2580 1596 f16");
  EXPECT_EQ(
      work_of_marker("linear", tensor("2, 8") + ", " + tensor("10, 8") + ", " + tensor("10,")),
      fmt::format("gemm  340 {} f16", 2 * (16 + 80 + 10 + 20)));
}

TEST(FrameworkOperator, TheAnswerAboutTensorCoresNeedsTheDataType) {
  const auto tensor_cores = [](std::string_view dtype, std::string_view architecture) {
    const std::string marker = fmt::format(
        "{{'mod': 'torch.nn.functional', 'op': 'conv2d', 'args': [{{'name': '', 'type': 'tensor', "
        "'shape': (2, 64, 8, 8), 'dtype': '{0}'}}, {{'name': '', 'type': 'tensor', 'shape': (64, "
        "64, 1, 1), 'dtype': '{0}'}}]}}",
        dtype);
    const auto range = parse_pyprof_marker(marker);
    const auto platform = parse_platform(architecture);
    EXPECT_TRUE(range && platform.ok());
    const auto work = compute_framework_work(
        {range->name, &range->inputs, nullptr, &range->arguments}, *platform);
    return work ? work->tensor_cores : "n/a";
  };
  EXPECT_TRUE(tensor_cores("float16", "9.0").starts_with("eligible ("))
      << tensor_cores("float16", "9.0");
  EXPECT_TRUE(tensor_cores("float32", "7.5").starts_with("not eligible ("))
      << tensor_cores("float32", "7.5");
  // A range of emit_nvtx contains no data type.
  const Shapes shapes = {{2, 64}, {64, 8}};
  const auto product = compute_framework_work({"aten::mm", &shapes}, *parse_platform("9.0"));
  EXPECT_EQ(product->tensor_cores, "");
}

TEST(FrameworkOperator, ArgumentsThatTheOperatorDoesNotHaveLeaveItUnknown) {
  const std::string image = tensor("2, 8, 8, 8");
  EXPECT_EQ(
      work_of_marker("max_pool2d", image + value("int", "3") + value("bool", "True", "ceil_mode")),
      "n/a");
  EXPECT_EQ(work_of_marker("max_pool2d", image + value("int", "3") + value("int", "2", "dilation")),
            "n/a");
  EXPECT_EQ(work_of_marker("max_pool2d", image), "n/a");
  EXPECT_EQ(work_of_marker("conv2d",
                           image + ", " + tensor("4, 8, 3, 3") + value("str", "'same'", "padding")),
            "n/a");
  EXPECT_EQ(work_of_marker("conv2d", image + ", " + tensor("4, 7, 3, 3")), "n/a");
  EXPECT_EQ(work_of_marker("batch_norm", image + value("tuple", "(1, 2)", "training")), "n/a");
  // With two data types, bytes are unknown.
  EXPECT_EQ(work_of_marker("mm", tensor("2, 3", "float32") + ", " + tensor("3, 4")),
            "gemm  48 n/a ");
}

// Expects only that no call crashes. The sanitizers also find overflows and invalid accesses.
TEST(FrameworkOperator, AnyShapesAreHandledWithoutACrash) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const std::vector<Shapes> all = {{},
                                   {{}},
                                   {{0}},
                                   {{1}, {1}},
                                   {{kHuge, 2}, {2, kHuge}},
                                   {{kHuge, kHuge, kHuge}, {kHuge, kHuge, kHuge}, {kHuge}},
                                   {{2, 0, 3}, {0, 3, 2}},
                                   {{1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, {1}},
                                   {{1, 1, kHuge}, {1, 1, kHuge}}};
  for (const std::string_view name : framework_operator_names()) {
    for (const Shapes& inputs : all) {
      work(name, inputs);
      work(name, inputs, inputs.empty() ? Shape{} : inputs.front());
      work(name, inputs, Shape{1, 1, kHuge});
    }
  }
}

TEST(FrameworkOperator, RemembersWithoutConfusion) {
  FrameworkWorkProvider remembering = make_framework_work_provider();
  const Shapes a = {{2, 3}, {3, 4}};
  const Shapes b = {{2, 3}, {3, 5}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(remembering({"aten::mm", &a, nullptr})->flops, 48);
    EXPECT_EQ(remembering({"aten::mm", &b, nullptr})->flops, 60);
    EXPECT_FALSE(remembering({"aten::nn", &b, nullptr}).has_value());
  }
}

}  // namespace
}  // namespace bench::ops
