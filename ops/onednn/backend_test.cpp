// SPDX-License-Identifier: Apache-2.0
#include "ops/backend/kernel.hpp"
#include "ops/onednn/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string_view>

namespace bench::ops::op_test {
namespace {

using ::testing::HasSubstr;

constexpr DataType kFloats[] = {DataType::f32, DataType::bf16, DataType::f16};
constexpr DataType kAll[] = {DataType::f32, DataType::bf16, DataType::f16, DataType::s8,
                             DataType::u8};
constexpr Direction kDirections[] = {Direction::forward, Direction::backward_data,
                                     Direction::backward_weights};
constexpr Layout kLayouts[] = {Layout::any, Layout::nchw, Layout::nhwc};

class OnednnBackendTest : public ::testing::Test {
 protected:
  // Skips problems that the operator itself does not define (gradients of integers).
  void check(std::string_view op, std::string_view tokens, std::span<const DataType> types,
             std::span<const Direction> directions = {kDirections, 1}) {
    for (const DataType type : types) {
      for (const Direction direction : directions) {
        auto defined = try_problem(op, tokens, type, direction);
        if (!defined.ok()) {
          EXPECT_FALSE(type == DataType::f32) << tokens << ": " << defined.error().message();
          continue;
        }
        for (const Layout layout : kLayouts) {
          defined->layout = layout;
          const bool is_computed = expect_computes(*backend_, *defined) == Outcome::computed;
          computed_ += is_computed;
          // What creates nothing and what creates a kernel must agree: `list` asks the one, `run`
          // the other.
          EXPECT_EQ(backend_->support_error(*defined).has_value(), !is_computed)
              << op << ' ' << tokens << ' ' << info(type).name;
        }
      }
    }
  }

  std::unique_ptr<Backend> backend_ = make_onednn_backend();
  int computed_ = 0;
};

TEST_F(OnednnBackendTest, LibraryNamesItselfAndItsFile) {
  const LibraryInfo library = backend_->library();
  EXPECT_EQ(backend_->name(), "onednn");
  EXPECT_EQ(backend_->device(), "cpu");
  EXPECT_EQ(library.name, "onednn");
  EXPECT_EQ(library.version.substr(0, 2), "3.");
  EXPECT_THAT(library.path, HasSubstr("libdnnl"));
  EXPECT_TRUE(std::filesystem::exists(library.path)) << library.path;
  EXPECT_THAT(library.detail, HasSubstr("build "));
}

// The detail once contained "1 threads" for a run with two, because a worker for another purpose
// had answered. Comparisons then showed the difference as a change.
TEST_F(OnednnBackendTest, LibraryDetailHasNoNumberOfThreads) {
  EXPECT_THAT(backend_->library().detail,
              ::testing::Not(::testing::ContainsRegex("[0-9]+ threads")));
}

TEST_F(OnednnBackendTest, ConvolutionsOfAllRanksDirectionsAndTypes) {
  for (const std::string_view tokens :
       {"n2c16w9k8s3p1", "n2c16h7w9k32r3s3p1", "n1c3h11w8k16r7s5u2p3x2", "n1c4d4h5w6k8t3r2s1p1x0x0",
        "n2c16h7w7k24r1s1"}) {
    check("conv", tokens, kAll, kDirections);
  }
  EXPECT_GT(computed_, 0);
}

TEST_F(OnednnBackendTest, ConvolutionsWithGroupsDilationPadsAndBias) {
  for (const std::string_view tokens :
       {"n2g4c16h6w6k32r3s3p1+bias", "n1g16c16h9w9k16r3s3u2p1+bias", "g3c6h8w8k9r2s3e2x1+bias",
        "n2c8h7w6k16r3s3p0_1x2_0+bias", "c5h4w4k7r4s4+bias", "n3c1h5w5k1r1s1u3+bias"}) {
    check("conv", tokens, kAll, kDirections);
  }
}

TEST_F(OnednnBackendTest, TransposedConvolutions) {
  for (const std::string_view tokens :
       {"n2c8h5w6k16r3s3u2p1o1+bias+transposed", "n1g2c8h4w4k6r2s2u2+transposed",
        "n1c4w7k3s4u3e2p1o2+transposed", "c3d3h3w3k4t2r2s2u2+transposed"}) {
    check("conv", tokens, kFloats, kDirections);
  }
}

TEST_F(OnednnBackendTest, PostOpsBehindConvolutionsAndProducts) {
  for (const std::string_view post_ops :
       {"+relu", "+clip", "+clip-1_1", "+leaky_relu0.1", "+elu", "+gelu_erf", "+gelu_tanh",
        "+sigmoid", "+tanh", "+swish", "+hardswish", "+hardsigmoid", "+abs", "+square", "+add",
        "+add+relu", "+relu+add", "+add+add"}) {
    check("conv", "n1c16h5w6k32r3s3p1+bias" + std::string(post_ops), kFloats);
    check("conv", "n1g8c8h5w6k8r3s3p1" + std::string(post_ops), kFloats);
    check("gemm", "m6n10k12+bias" + std::string(post_ops), kFloats);
  }
  check("conv", "n1c16h5w6k32r3s3p1+bias+add+relu", kAll);
}

TEST_F(OnednnBackendTest, MatrixProducts) {
  for (const std::string_view tokens :
       {"m7n5k3", "m16n32k64+bias", "m7n5k3+ta", "m7n5k3+tb+bias", "m4n6k8+ta+tb", "m1n1k1",
        "b3m4n5k6", "b3m4n5k6+ta+bias", "b2m4n5k6+tb", "m1n100k33+tb+bias"}) {
    check("gemm", tokens, kAll);
  }
}

TEST_F(OnednnBackendTest, MatrixProductsThatShareAMatrix) {
  for (const std::string_view tokens :
       {"b6wb1m4n5k6", "b6wb2m4n5k6+ta+bias", "b6sb1m4n5k6+tb", "b6sb3m4n5k6+bias",
        "b6wb2m4n5k6+add+relu", "b6wb1m4n5k6+tb+add"}) {
    check("gemm", tokens, kFloats);
  }
}

TEST_F(OnednnBackendTest, QuantisedMatrixProducts) {
  constexpr DataType kIntegers[] = {DataType::s8, DataType::u8};
  for (const std::string_view scales :
       {"", "+ss_tensor", "+ws_tensor", "+ss_tensor+ws_channel", "+ss_tensor+ws_tensor+szp"}) {
    for (const std::string_view type : {"", "+dst_s8", "+dst_u8", "+dst_f32", "+dst_bf16"}) {
      for (const std::string_view product :
           {"m7n5k33", "m16n32k64+tb+bias", "b3m4n5k40+bias", "m16n32k64+bias"}) {
        check("gemm", fmt::format("{}{}{}", product, scales, type), kIntegers);
      }
      check("gemm", fmt::format("m16n32k64+bias{}{}+relu", scales, type), kIntegers);
    }
  }
  EXPECT_GT(computed_, 700);  // of 750 with layouts: few forms lack a kernel on some CPUs
}

// Each group is a product of its own.
TEST_F(OnednnBackendTest, GroupedMatrixProducts) {
  for (const std::string_view tokens :
       {"5x16x3-n32k64", "16x16-n32k64+tb+bias", "1x1x7x1-n5k3+bias", "9-n4k4"}) {
    check("grouped_gemm", tokens, kAll);
    check("grouped_gemm", tokens, kFloats, std::span(kDirections).subspan(1));
  }
  const auto kernel = backend_->create(problem("grouped_gemm", "5x16x5-n32k64"));
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_EQ((*kernel)->steps().size(), 3U);
  EXPECT_EQ((*kernel)->details().at("groups"), "3");
}

TEST_F(OnednnBackendTest, GradientsOfMatrixProducts) {
  for (const std::string_view tokens :
       {"m7n5k3", "m16n32k64+bias", "m7n5k3+ta", "m7n5k3+tb+bias", "m4n6k8+ta+tb", "b3m4n5k6",
        "b3m4n5k6+ta", "b2m4n5k6+tb", "b6wb2m4n5k6", "b6wb1m4n5k6+tb"}) {
    check("gemm", tokens, kFloats, std::span(kDirections).subspan(1));
  }
  const auto reason = [&](std::string_view tokens, Direction direction) {
    const Problem gradient = problem("gemm", tokens, DataType::f32, direction);
    const auto kernel = backend_->create(gradient);
    return kernel.ok() ? "computed" : kernel.error().reason;
  };
  EXPECT_THAT(reason("b2m4n5k6+bias", Direction::backward_weights), HasSubstr("inner product"));
  EXPECT_THAT(reason("m4n5k6+ta+bias", Direction::backward_weights), HasSubstr("inner product"));
  EXPECT_THAT(reason("b2sb1m4n5k6", Direction::backward_data), HasSubstr("does not add up"));
  EXPECT_THAT(reason("b2wb1m4n5k6+ta", Direction::backward_weights), HasSubstr("does not add up"));
}

TEST_F(OnednnBackendTest, Pools) {
  for (const std::string_view function : {"max", "avg_include_pad", "avg_exclude_pad"}) {
    for (const std::string_view tokens :
         {"-n2c16h8w9r3u2p1", "-n1c3h7w7r2", "-c5w9r3u1p1_0", "-n1c4d4h4w5r2x2x3u1",
          "-n2c16h7w7+global", "-c20h6w6r3u2p0_1"}) {
      check("pool", std::string(function) + std::string(tokens), kAll,
            std::span(kDirections).first(2));
    }
  }
}

TEST_F(OnednnBackendTest, UnaryFunctions) {
  for (const std::string_view function :
       {"relu", "leaky_relu", "elu", "gelu_erf", "gelu_tanh", "sigmoid", "tanh", "swish",
        "hardswish", "hardsigmoid", "exp", "log", "sqrt", "abs", "clip", "square"}) {
    for (const std::string_view shape : {"-2x16x5x6", "-37", "-3x4x5", "-1x3x2x4x5"}) {
      check("pointwise", std::string(function) + std::string(shape), kAll,
            std::span(kDirections).first(2));
    }
  }
}

TEST_F(OnednnBackendTest, BinaryFunctionsWithBroadcast) {
  for (const std::string_view function : {"add", "sub", "mul", "div", "max", "min"}) {
    for (const std::string_view shapes : {"-2x16x5x6-2x16x5x6", "-2x16x5x6-1x16x1x1", "-2x16x5x6-6",
                                          "-7x9-7x9", "-7x9-1", "-16-16"}) {
      check("pointwise", std::string(function) + std::string(shapes), kAll);
    }
  }
}

// The first operand, or both, are broadcast. oneDNN may not support it; the error then states
// this.
TEST_F(OnednnBackendTest, BinaryFunctionsWithTheFirstOperandStretched) {
  for (const std::string_view tokens : {"add-6-2x16x5x6", "sub-1x16x1x1-2x16x5x6", "mul-7x1-1x9"}) {
    Problem stretched = problem("pointwise", tokens);
    auto kernel = backend_->create(stretched);
    if (kernel.ok()) {
      expect_computes(*backend_, stretched);
    } else {
      EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported) << kernel.error().reason;
    }
  }
}

TEST_F(OnednnBackendTest, NormalisationSoftmaxAndReorder) {
  for (const std::string_view tokens : {"n2c16h5w6", "n1c3w7", "n1c4d2h3w4", "n2c20h5w5eps0.001"}) {
    check("batch_norm", tokens, kAll);
  }
  for (const std::string_view tokens : {"4x10", "2x3x4x5", "2x16x5x6-a1", "3x4x5-a0", "100"}) {
    check("softmax", tokens, kFloats);
  }
  for (const std::string_view from : {"nchw", "nhwc", "blocked16"}) {
    for (const std::string_view to : {"nchw", "nhwc", "blocked16"}) {
      const std::string ways = "-" + std::string(from) + "-" + std::string(to);
      check("reorder", "2x20x5x6" + ways, kAll);
      check("reorder", "1x3x7" + ways, kAll);
      check("reorder", "2x16x3x4x5" + ways, kAll);
    }
  }
}

TEST_F(OnednnBackendTest, RandomConvolutions) {
  Random random(20260101);
  for (int i = 0; i < 60; ++i) {
    const std::int64_t groups = draw(random, 1, 3);
    const std::int64_t kernel = draw(random, 1, 4);
    const std::string tokens =
        fmt::format("n{}g{}c{}h{}w{}k{}r{}s{}u{}p{}e{}", draw(random, 1, 3), groups,
                    groups * draw(random, 1, 20), draw(random, 9, 14), draw(random, 9, 14),
                    groups * draw(random, 1, 20), kernel, draw(random, 1, 4), draw(random, 1, 3),
                    draw(random, 0, kernel), draw(random, 1, 2));
    const Direction direction = kDirections[draw(random, 0, 2)];
    expect_computes(*backend_, problem("conv", tokens, DataType::f32, direction), random());
  }
}

TEST_F(OnednnBackendTest, AnyHasTheLayoutThatConvolutionsHandOver) {
  const auto conv = backend_->create(problem("conv", "n1c64h14w14k64r1s1"));
  ASSERT_TRUE(conv.ok());
  for (const auto& [op, tokens] :
       {std::pair("pool", "max-n1c64h14w14r2"), std::pair("batch_norm", "n1c64h14w14"),
        std::pair("pointwise", "relu-1x64x14x14"),
        std::pair("pointwise", "add-1x64x14x14-1x64x14x14")}) {
    const auto kernel = backend_->create(problem(op, tokens));
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ((*kernel)->buffers()[0].layout, (*conv)->buffers().back().layout) << op;
  }
}

TEST_F(OnednnBackendTest, LayoutFixesActivationsButNotWeights) {
  Problem fixed = problem("conv", "n1c64h14w14k64r3s3p1");
  for (const auto& [layout, text] :
       {std::pair(Layout::nchw, "abcd"), std::pair(Layout::nhwc, "acdb")}) {
    fixed.layout = layout;
    const auto kernel = backend_->create(fixed);
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ((*kernel)->buffers()[0].layout, text);
    EXPECT_EQ((*kernel)->buffers()[2].layout, text);
  }
}

TEST_F(OnednnBackendTest, StepsNameThePrimitive) {
  const auto kernel = backend_->create(problem("conv", "n1c64h14w14k64r3s3p1"));
  ASSERT_TRUE(kernel.ok());
  const std::vector<KernelStep> steps = (*kernel)->steps();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].kind, "convolution");
  EXPECT_EQ(steps[0].implementation, (*kernel)->implementation());
  EXPECT_THAT(steps[0].layouts, HasSubstr(" -> "));
  EXPECT_THAT(steps[0].layouts, HasSubstr("weights "));
}

TEST_F(OnednnBackendTest, MaxPoolingKeepsAWorkspaceForItsGradient) {
  const auto kernel =
      backend_->create(problem("pool", "max-n1c16h8w8r2", DataType::f32, Direction::backward_data));
  ASSERT_TRUE(kernel.ok());
  EXPECT_GE((*kernel)->workspace().count, 16 * 4 * 4);  // at least one byte per output
}

TEST_F(OnednnBackendTest, UnsupportedSaysWhy) {
  for (const DataType type : {DataType::f64, DataType::f8_e4m3, DataType::f8_e5m2}) {
    const auto kernel = backend_->create(problem("gemm", "m4n4k4", type));
    ASSERT_FALSE(kernel.ok());
    EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(kernel.error().reason, HasSubstr(std::string(info(type).name)));
  }
  Problem tf32 = problem("gemm", "m4n4k4");
  tf32.math = Math::tf32;
  const auto kernel = backend_->create(tf32);
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(kernel.error().reason, HasSubstr("tf32"));
  Problem fast = problem("gemm", "m4n4k4", DataType::f8_e4m3);
  fast.math = Math::fast_accumulation;
  const auto accumulating = backend_->create(fast);
  ASSERT_FALSE(accumulating.ok());
  EXPECT_EQ(accumulating.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(accumulating.error().reason, HasSubstr("backend cublaslt"));
}

TEST_F(OnednnBackendTest, TooManyDimensionsAreUnsupported) {
  const auto kernel = backend_->create(problem("softmax", "1x1x1x1x1x1x1x1x1x1x1x1x2"));
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::unsupported);
  EXPECT_THAT(kernel.error().reason, HasSubstr("13 dimensions"));
}

TEST_F(OnednnBackendTest, WhatExceedsTheMemoryIsSkipped) {
  const auto kernel = backend_->create(problem("gemm", "m1048576n1048576k1024"));  // 4 TiB
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().kind, BackendError::Kind::skipped) << kernel.error().reason;
  EXPECT_THAT(kernel.error().reason, HasSubstr("not enough memory"));
  EXPECT_THAT(kernel.error().reason, HasSubstr("TiB"));
}

// Earlier, support_error() knew nothing of the processor, so that `list` promised cases that `run`
// refused.
TEST_F(OnednnBackendTest, AskedAheadItRefusesWithTheReasonOfCreate) {
  for (const DataType type : kAll) {
    for (const std::string_view op : {"conv", "gemm", "softmax"}) {
      const std::string_view tokens = op == "conv"   ? "c8h8w8k8r3s3p1"
                                      : op == "gemm" ? "m8n8k8"
                                                     : "8x8";
      const auto problem = try_problem(op, tokens, type, Direction::forward);
      if (!problem.ok()) continue;
      const auto ahead = backend_->support_error(*problem);
      const auto kernel = backend_->create(*problem);
      ASSERT_EQ(ahead.has_value(), !kernel.ok()) << op << ' ' << info(type).name;
      if (!ahead) continue;
      EXPECT_EQ(ahead->kind, kernel.error().kind);
      EXPECT_EQ(ahead->reason, kernel.error().reason);
    }
  }
}

}  // namespace
}  // namespace bench::ops::op_test
