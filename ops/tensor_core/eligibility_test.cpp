// SPDX-License-Identifier: Apache-2.0
// Compares the rules with known facts about the libraries: sentences of their guides, and answers
// of cuDNN.
#include "ops/tensor_core/eligibility.hpp"

#include "ops/tensor_core/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::ops::op_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string gemm_tokens(std::int64_t m, std::int64_t n, std::int64_t k) {
  return fmt::format("m{}n{}k{}", m, n, k);
}

std::string conv_tokens(std::int64_t c, std::int64_t k) {
  return fmt::format("n32c{}h28w28k{}r3s3p1", c, k);
}

// "Tensor Core usage (conv): for Volta, convolutions should have the input channel count (C) and
// the output channel count (K) divisible by 8, in order to use tensor cores."
TEST(TensorCoreGuide, VoltaConvolvesChannelsInMultiplesOf8) {
  for (std::int64_t c = 5; c <= 72; ++c) {
    for (std::int64_t k = 57; k <= 72; ++k) {
      const auto verdict = assess("conv", conv_tokens(c, k), "sm_70:cuda10");
      EXPECT_EQ(is_eligible(verdict), c % 8 == 0 && k % 8 == 0) << c << ", " << k;
      if (is_eligible(verdict)) continue;
      EXPECT_EQ(verdict.rule, "align-required") << verdict.reason;
    }
  }
}

// "For Turing, it's optimal for C and K to be divisible by 16": 8-bit integers, which Turing
// introduced, require this. f16 requires only 8; 16 is no worse.
TEST(TensorCoreGuide, TuringConvolvesChannelsInMultiplesOf16) {
  for (std::int64_t c = 8; c <= 64; c += 8) {
    for (std::int64_t k = 8; k <= 64; k += 8) {
      const bool by_16 = c % 16 == 0 && k % 16 == 0;
      const auto half = assess("conv", conv_tokens(c, k), "sm_75:cuda10");
      EXPECT_TRUE(is_eligible(half)) << c << ", " << k;
      EXPECT_GE(*half.alignment, AlignmentGrade::ok);
      const auto int8 = assess("conv", conv_tokens(c, k), "sm_75:cuda10", {.dtype = DataType::s8});
      EXPECT_EQ(is_eligible(int8), by_16) << c << ", " << k;
    }
  }
}

// "Tensor core usage (GEMM): M, N and K divisible by 8 (Volta) or 16 (Turing)"
TEST(TensorCoreGuide, VoltaMultipliesMultiplesOf8AndTuringMultiplesOf16) {
  const std::string transposed = "+tb";  // int8 requires it
  for (const std::int64_t size : {8, 16, 24, 32, 63, 64, 100, 128, 132}) {
    for (int place = 0; place < 3; ++place) {
      std::int64_t mnk[] = {128, 128, 128};
      mnk[place] = size;
      const std::string tokens = gemm_tokens(mnk[0], mnk[1], mnk[2]) + transposed;
      const auto volta = assess("gemm", tokens, "sm_70:cuda10");
      EXPECT_EQ(is_eligible(volta), size % 8 == 0) << tokens;
      EXPECT_TRUE(is_eligible(assess("gemm", tokens, "sm_70:cuda11"))) << tokens;
      const auto turing = assess("gemm", tokens, "sm_75:cuda10", {.dtype = DataType::s8});
      EXPECT_EQ(is_eligible(turing), size % 16 == 0) << tokens;
    }
  }
  const auto volta = assess("gemm", "m127n128k128", "sm_70:cuda10");
  EXPECT_EQ(volta.rule, "align-required");
  EXPECT_THAT(volta.hints, ElementsAre("pad m = 127 to 128"));
}

// NVIDIA's table of multiples, for libraries since cuBLAS 11: "always"; best at 16 bytes, on A100
// at 128.
TEST(TensorCoreGuide, NewerLibrariesTakeAnyMultipleAndGradeIt) {
  struct Row {
    DataType dtype;
    std::int64_t ok, full;  // elements
    Math math = Math::standard;
  };
  for (const Row& row : {Row{DataType::f16, 8, 64}, Row{DataType::bf16, 8, 64},
                         Row{DataType::f32, 4, 32, Math::tf32}, Row{DataType::f64, 2, 16}}) {
    const CaseSettings settings{.dtype = row.dtype, .math = row.math};
    for (std::int64_t size = 33; size <= 128; ++size) {
      const auto verdict = assess("gemm", gemm_tokens(size, size, size), "sm_80", settings);
      EXPECT_TRUE(is_eligible(verdict)) << size;
      const AlignmentGrade grade = size % row.full == 0 ? AlignmentGrade::full
                                   : size % row.ok == 0 ? AlignmentGrade::ok
                                                        : AlignmentGrade::degraded;
      EXPECT_EQ(*verdict.alignment, grade) << size << " " << info(row.dtype).name;
    }
  }
}

// Answers of cuDNN 9.19's heuristic without a device: 3x3, pad 1, N = 32, 28 x 28. `workspace`: its
// size in KiB; nullopt: not requested.
struct CudnnAnswer {
  const char* name;
  const char* tokens;
  CaseSettings settings;
  std::string_view answers;  // for sm_75, sm_80, sm_90, sm_100: T tensor cores, - none
  std::optional<std::int64_t> workspace = {};
};
constexpr auto kHalf = DataType::f16;
constexpr CaseSettings kNhwc{.layout = Layout::nhwc};
const CudnnAnswer kAnswers[] = {
    {"half", "n32c64h28w28k64r3s3p1", kNhwc, "TTTT", 0},
    {"C = 60", "n32c60h28w28k64r3s3p1", kNhwc, "TTTT", 3208},
    {"C = 62", "n32c62h28w28k64r3s3p1", kNhwc, "TTTT", 3208},
    {"C = 63", "n32c63h28w28k64r3s3p1", kNhwc, "TTTT", 3208},
    {"C = 1", "n32c1h28w28k64r3s3p1", kNhwc, "TTT-"},
    {"C = 3", "n32c3h28w28k64r3s3p1", kNhwc, "TTT-"},
    {"C = 4", "n32c4h28w28k64r3s3p1", kNhwc, "TTT-"},
    {"K = 63", "n32c64h28w28k63r3s3p1", kNhwc, "TTTT"},
    {"NCHW", "n32c64h28w28k64r3s3p1", {.layout = Layout::nchw}, "TTTT", 6344},
    {"4 groups", "n32g4c64h28w28k64r3s3p1", kNhwc, "TTTT"},
    {"32 groups", "n32g32c64h28w28k64r3s3p1", kNhwc, "----"},
    {"depthwise", "n32g64c64h28w28k64r3s3p1", kNhwc, "----"},
    {"dgrad", "n32c64h28w28k64r3s3p1", {kHalf, Direction::backward_data, Layout::nhwc}, "TTTT", 0},
    {"wgrad",
     "n32c64h28w28k64r3s3p1",
     {kHalf, Direction::backward_weights, Layout::nhwc},
     "TTTT",
     0},
    {"float",
     "n32c64h28w28k64r3s3p1",
     {DataType::f32, Direction::forward, Layout::nhwc, Math::tf32},
     "-TTT"},
    {"float without TF32", "n32c64h28w28k64r3s3p1", {.dtype = DataType::f32}, "----"},
    {"double", "n32c64h28w28k64r3s3p1", {.dtype = DataType::f64}, "----"},
    {"fp8", "n32c64h28w28k64r3s3p1", {.dtype = DataType::f8_e4m3}, "--TT"},
    {"bf16", "n32c64h28w28k64r3s3p1", {.dtype = DataType::bf16}, "-TTT"},
};

TEST(TensorCoreRules, AgreeWithWhatCudnnAnswered) {
  constexpr const char* kArchitectures[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
  for (const CudnnAnswer& row : kAnswers) {
    for (std::size_t i = 0; i < 4; ++i) {
      const auto verdict = assess("conv", row.tokens, kArchitectures[i], row.settings);
      EXPECT_EQ(is_eligible(verdict), row.answers[i] == 'T')
          << row.name << " on " << kArchitectures[i] << ": " << verdict.reason;
      if (!row.workspace || !is_eligible(verdict)) continue;
      const std::int64_t bytes = verdict.copies ? verdict.copies->workspace_bytes : 0;
      EXPECT_EQ(bytes, *row.workspace * 1024) << row.name << " on " << kArchitectures[i];
    }
  }
  EXPECT_EQ(assess("conv", conv_tokens(64, 64), "sm_70:cuda13").rule, "libraries-dropped");
}

// K = 60 and 63: a padded copy of the output, except on sm_80, which had none. sm_75 requested 4
// KiB more than the copies of K = 60 explain.
TEST(TensorCoreRules, KnowWhereOutputChannelsArePadded) {
  for (const char* architecture : {"sm_75", "sm_90", "sm_100"}) {
    const auto verdict = assess("conv", conv_tokens(64, 60), architecture, kNhwc);
    ASSERT_TRUE(verdict.copies) << architecture;
    EXPECT_EQ(verdict.copies->workspace_bytes, 3208 * 1024);
    EXPECT_EQ(verdict.copies->conversion_bytes, 2 * 3208 * 1024);
    EXPECT_THAT(verdict.copies->tensors, ElementsAre("weights", "destination"));
    EXPECT_THAT(verdict.hints, Contains("pad k = 60 to 64"));
  }
  EXPECT_FALSE(assess("conv", conv_tokens(64, 60), "sm_80", kNhwc).copies);
}

TEST(TensorCoreRules, NchwCopiesEverythingAndNhwcIsTheAdvice) {
  const auto verdict = assess("conv", conv_tokens(64, 64), "sm_90", {.layout = Layout::nchw});
  EXPECT_THAT(verdict.copies->tensors, ElementsAre("source", "weights", "destination"));
  EXPECT_EQ(find_rule(verdict, TensorCorePart::layout_ok), "layout-nchw");
  EXPECT_THAT(verdict.hints,
              ElementsAre("cuDNN copies source, weights, destination: 6.195 MiB of workspace, "
                          "12.39 MiB more traffic",
                          "`layout: nhwc` needs no such copy"));
}

TEST(TensorCoreRules, Tf32IsAskedForInBenchByEitherLibrary) {
  const CaseSettings allowed{.dtype = DataType::f32, .math = Math::tf32};
  for (const auto& [op, tokens] :
       {std::pair("gemm", "m64n64k64"), std::pair("conv", "c64h28w28k64r3s3p1")}) {
    const auto kept = assess(op, tokens, "sm_90", {.dtype = DataType::f32});
    EXPECT_EQ(kept.rule, "math-default");
    EXPECT_THAT(kept.hints, Contains("allow TF32 with `math: tf32`"));
    EXPECT_TRUE(is_eligible(assess(op, tokens, "sm_90", allowed)));
    EXPECT_EQ(assess(op, tokens, "sm_75", allowed).rule, "arch-none");
    EXPECT_THAT(assess(op, tokens, "sm_75", {.dtype = DataType::f32}).hints, IsEmpty());
  }
}

TEST(TensorCoreRules, TheRowsOfTheOperandsAsStoredAreWhatMustBeAligned) {
  // Rows: source k, weights n, destination n.
  EXPECT_EQ(*assess("gemm", "m63n64k64", "sm_90").alignment, AlignmentGrade::full);
  EXPECT_EQ(*assess("gemm", "m64n64k63", "sm_90").alignment, AlignmentGrade::degraded);
  // Transposed operands: source m, weights k. If both are transposed, k is not a row size.
  EXPECT_EQ(*assess("gemm", "m63n64k64+ta", "sm_90").alignment, AlignmentGrade::degraded);
  EXPECT_EQ(*assess("gemm", "m64n64k63+ta", "sm_90").alignment, AlignmentGrade::full);
  EXPECT_EQ(*assess("gemm", "m64n64k63+ta+tb", "sm_90").alignment, AlignmentGrade::degraded);
  const auto narrow = assess("gemm", "m64n4097k64", "sm_90");
  EXPECT_TRUE(is_eligible(narrow));
  EXPECT_EQ(narrow.rule, "align-narrow");
  EXPECT_THAT(narrow.reason, HasSubstr("weights: rows of n = 4097 x 2 B"));
  EXPECT_THAT(narrow.hints, ElementsAre("pad n = 4097 to 4104"));
}

TEST(TensorCoreRules, Fp8AndInt8ReadAlongK) {
  const CaseSettings fp8{.dtype = DataType::f8_e4m3};
  for (const char* architecture : {"sm_89", "sm_90", "sm_120", "sm_121"}) {
    EXPECT_TRUE(is_eligible(assess("gemm", "m64n64k64+tb", architecture, fp8))) << architecture;
    const auto plain = assess("gemm", "m64n64k64", architecture, fp8);
    EXPECT_EQ(plain.rule, "layout-fp8") << architecture;
    EXPECT_THAT(plain.hints, Contains(HasSubstr("`trans_b: true`")));
    EXPECT_EQ(assess("gemm", "m64n64k64+ta+tb", architecture, fp8).rule, "layout-fp8");
  }
  for (const char* architecture : {"sm_100", "sm_103", "sm_110"}) {
    EXPECT_TRUE(is_eligible(assess("gemm", "m64n64k64+ta", architecture, fp8))) << architecture;
  }
  EXPECT_EQ(assess("gemm", "m64n72k64+tb", "sm_90", fp8).rule, "align-fp8");
  const CaseSettings int8{.dtype = DataType::s8};
  EXPECT_TRUE(is_eligible(assess("gemm", "m64n64k64+tb", "sm_90", int8)));
  EXPECT_EQ(assess("gemm", "m64n64k64", "sm_90", int8).rule, "layout-int8");
  EXPECT_EQ(assess("gemm", "m64n62k64+tb", "sm_90", int8).rule, "size-int8");
  EXPECT_EQ(assess("gemm", "m64n64k62+tb", "sm_90", int8).rule, "align-int8");
  EXPECT_EQ(assess("gemm", "m64n64k64+tb", "sm_90", {.dtype = DataType::u8}).rule, "u8");
}

TEST(TensorCoreRules, E5m2IsMultipliedWithE4m3OnlyButConvolvedWithItself) {
  const CaseSettings e5m2{.dtype = DataType::f8_e5m2};
  for (const char* architecture : {"sm_89", "sm_90", "sm_100", "sm_120"}) {
    const auto product = assess("gemm", "m64n64k64+tb", architecture, e5m2);
    EXPECT_FALSE(is_eligible(product)) << architecture;
    EXPECT_EQ(product.rule, "gemm-e5m2");
    EXPECT_THAT(product.reason, HasSubstr("not with itself"));
    EXPECT_TRUE(is_eligible(assess("conv", conv_tokens(64, 64), architecture, e5m2)))
        << architecture;
  }
}

TEST(TensorCoreRules, Fp8ConvolutionsAreAsCudnnHasThem) {
  const CaseSettings forward{.dtype = DataType::f8_e4m3};
  const CaseSettings gradient{.dtype = DataType::f8_e4m3, .direction = Direction::backward_data};
  EXPECT_EQ(assess("conv", conv_tokens(64, 64), "sm_80", forward).rule, "arch-none");
  EXPECT_TRUE(is_eligible(assess("conv", conv_tokens(62, 64), "sm_89", forward)));
  EXPECT_TRUE(is_eligible(assess("conv", "g16c64h8w8k64r3s3p1", "sm_90", forward)));
  EXPECT_EQ(assess("conv", "g32c64h8w8k64r3s3p1", "sm_90", forward).rule, "size-conv-fp8");
  EXPECT_EQ(assess("conv", "g64c64h8w8k64r3s3p1", "sm_90", forward).rule, "size-conv-fp8");
  EXPECT_EQ(assess("conv", conv_tokens(64, 64), "sm_89", gradient).rule, "conv-fp8-forward");
  for (const char* architecture : {"sm_90", "sm_100"}) {  // an H100 ran them
    EXPECT_TRUE(is_eligible(assess("conv", conv_tokens(64, 64), architecture, gradient)));
    EXPECT_EQ(assess("conv", conv_tokens(64, 60), architecture, gradient).rule, "align-conv-fp8");
  }
  // Transposed convolutions are gradients, and vice versa.
  const std::string transposed = "c64h28w28k64r3s3p1+transposed";
  EXPECT_EQ(assess("conv", transposed, "sm_89", forward).rule, "conv-fp8-forward");
  EXPECT_TRUE(is_eligible(assess("conv", transposed, "sm_89", gradient)));
  EXPECT_EQ(assess("conv", transposed, "sm_90", {.dtype = DataType::s8}).rule, "conv-int8-forward");
}

TEST(TensorCoreRules, SmallProductsGoToCudaCores) {
  EXPECT_EQ(assess("gemm", "m1n4096k4096", "sm_80").rule, "size-vector");
  EXPECT_EQ(find_rule(assess("gemm", "m1n4096k4096", "sm_90"), TensorCorePart::min_dims_ok),
            "size-one-row-hopper");
  EXPECT_EQ(assess("gemm", "m4096n1k4096", "sm_90").rule, "size-vector");
  EXPECT_EQ(assess("gemm", "m64n64k1", "sm_90").rule, "size-rank-one");
  const auto thin = assess("gemm", "m4n4096k4096", "sm_90");
  EXPECT_TRUE(is_eligible(thin));
  EXPECT_EQ(find_rule(thin, TensorCorePart::min_dims_ok), "size-small");
  // No other operator supports fp8.
  EXPECT_TRUE(is_eligible(assess("gemm", "m1n64k64+tb", "sm_90", {.dtype = DataType::f8_e4m3})));
}

TEST(TensorCoreRules, F64HasTensorCoresInThreeArchitecturesAndInCublasAlone) {
  const CaseSettings f64{.dtype = DataType::f64};
  for (const Architecture& architecture : architectures()) {
    const bool has = architecture.id == Sm::sm_80 || architecture.id == Sm::sm_90 ||
                     architecture.id == Sm::sm_100;
    EXPECT_EQ(is_eligible(assess("gemm", "m64n64k64", architecture.name, f64)), has)
        << architecture.name;
    EXPECT_FALSE(is_eligible(assess("conv", conv_tokens(64, 64), architecture.name, f64)));
  }
}

TEST(TensorCoreRules, OperatorsWithoutProductsSaySo) {
  struct Row {
    const char* op;
    const char* tokens;
    const char* rule;
  };
  for (const Row& row :
       {Row{"pool", "max-c64h56w56r3", "op-pool"}, Row{"pointwise", "relu-64x64", "op-pointwise"},
        Row{"batch_norm", "n1c64h56w56", "op-batch-norm"}, Row{"softmax", "64x64", "op-softmax"},
        Row{"reorder", "1x64x56x56-nchw-nhwc", "op-reorder"}}) {
    const auto verdict = assess(row.op, row.tokens, "sm_90", {.dtype = DataType::f32});
    EXPECT_EQ(verdict.answer, TensorCoreAnswer::not_applicable) << row.op;
    EXPECT_EQ(verdict.rule, row.rule);
    EXPECT_FALSE(verdict.reason.empty());
    EXPECT_THAT(verdict.parts, IsEmpty());
    EXPECT_FALSE(verdict.alignment);
  }
  // An operator of a plugin.
  Operator foreign = *find_operator("softmax");
  foreign.name = "attention";
  Problem problem = make_case_problem("softmax", "64x64", {});
  problem.op = &foreign;
  EXPECT_EQ(assess_tensor_cores(problem, parse_platform("sm_90").value()).rule, "op-unknown");
}

}  // namespace
}  // namespace bench::ops::op_test
