// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/variant.hpp"

#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr int kThreads = 8;

std::vector<Variant> propose(const std::string& id) {
  return propose_variants(test::make_case(id), kThreads);
}

std::vector<std::string_view> names_for(const std::string& id) {
  std::vector<std::string_view> names;
  for (const Variant& variant : propose(id)) names.push_back(variant.name);
  return names;
}

std::optional<Variant> find_variant(const std::string& id, std::string_view name) {
  for (Variant& variant : propose(id)) {
    if (variant.name == name) return std::move(variant);
  }
  return std::nullopt;
}

TEST(Variants, AConvolutionInF32OnACpu) {
  EXPECT_THAT(names_for("conv/forward/c60h28w28k64r3s3p1/f32/onednn/cpu/hot"),
              ElementsAre("bf16", "f16", "nchw", "nhwc", "pad", "fuse", "tune", "batch",
                          "one_thread", "half_of_threads"));
}

TEST(Variants, ARuleIsProposedOnlyForWhatTheCaseHasNot) {
  const auto names = names_for("conv/forward/c64h28w28k64r3s3p1/bf16/onednn/cpu/hot/nhwc/t1");
  EXPECT_THAT(names, Contains("f32"));
  EXPECT_THAT(names, Contains("any_layout"));
  EXPECT_THAT(names, Contains("all_threads"));
  for (const auto* absent : {"bf16", "f16", "nhwc", "pad", "one_thread", "tf32"})
    EXPECT_THAT(names, Not(Contains(absent))) << absent;
}

TEST(Variants, PaddingExtendsEachDimensionToAMultipleOfAVector) {
  const auto on_cpu = find_variant("conv/forward/c60h28w28k100r3s3p1/f32/onednn/cpu/hot", "pad");
  ASSERT_TRUE(on_cpu);
  EXPECT_THAT(on_cpu->key.parameters, HasSubstr("c64"));
  EXPECT_THAT(on_cpu->key.parameters, HasSubstr("k112"));
  EXPECT_THAT(on_cpu->why, HasSubstr("Zeros extend c from 60 to 64 and k from 100 to 112."));
  const auto on_gpu = find_variant("gemm/forward/m64n60k100/f16/cublaslt/cuda/hot", "pad");
  ASSERT_TRUE(on_gpu);
  EXPECT_EQ(on_gpu->key.parameters, "m64n64k104");
}

TEST(Variants, ADepthwiseConvolutionIsNotPadded) {
  EXPECT_THAT(names_for("conv/forward/c60h28w28k60r3s3p1g60/f32/onednn/cpu/hot"),
              Not(Contains("pad")));
}

// 3 channels would become 16: five times the work.
TEST(Variants, ThreeChannelsAreNotPadded) {
  EXPECT_THAT(names_for("conv/forward/c3h28w28k64r3s3p1/f32/onednn/cpu/hot"), Not(Contains("pad")));
}

TEST(Variants, AFusedActivationSavesACaseOverTheOutput) {
  const auto fused = find_variant("conv/forward/n2c64h28w28k32r3s3p1/f32/onednn/cpu/hot", "fuse");
  ASSERT_TRUE(fused);
  EXPECT_EQ(to_id(fused->key), "conv/forward/n2c64h28w28k32r3s3p1+relu/f32/onednn/cpu/hot");
  ASSERT_TRUE(fused->saved);
  EXPECT_EQ(to_id(*fused->saved), "pointwise/forward/relu-2x32x28x28/f32/onednn/cpu/hot");
  EXPECT_THAT(names_for("conv/forward/n2c64h28w28k32r3s3p1+relu/f32/onednn/cpu/hot"),
              Not(Contains("fuse")));
  EXPECT_THAT(names_for("conv/backward_data/n2c64h28w28k32r3s3p1/f32/onednn/cpu/hot"),
              Not(Contains("fuse")));
}

// The layout of a matrix is not a case's choice.
TEST(Variants, OnlyImagesHaveOtherLayouts) {
  const auto names = names_for("gemm/forward/m64n64k64/f32/onednn/cpu/hot");
  EXPECT_THAT(names, Not(Contains("nhwc")));
  EXPECT_THAT(names, Not(Contains("nchw")));
}

TEST(Variants, TwoBatchesAtOnce) {
  const auto batch = find_variant("gemm/forward/m64n64k64/f32/onednn/cpu/hot", "batch");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->key.parameters, "m128n64k64");
  EXPECT_EQ(batch->batches, 2);
}

TEST(Variants, OnAGpuTf32IsProposedAndNoThreads) {
  const auto names = names_for("gemm/forward/m64n64k64/f32/cublaslt/cuda/hot");
  EXPECT_THAT(names, Contains("tf32"));
  for (const auto* absent : {"one_thread", "half_of_threads", "all_threads"})
    EXPECT_THAT(names, Not(Contains(absent))) << absent;
}

TEST(Variants, OfACaseWithoutChoicesOnlyTypeLayoutAndThreads) {
  EXPECT_THAT(names_for("pointwise/forward/relu-2x32x28x28/f32/onednn/cpu/hot"),
              ElementsAre("bf16", "f16", "nchw", "nhwc", "one_thread", "half_of_threads"));
}

TEST(Variants, EachRuleHasANameAndAReason) {
  for (const std::string id : {"conv/forward/c60h28w28k64r3s3p1/f32/onednn/cpu/hot",
                               "gemm/forward/m64n60k64/bf16/cublaslt/cuda/hot"}) {
    for (const Variant& variant : propose(id)) {
      EXPECT_THAT(variant_names(), Contains(variant.name));
      EXPECT_THAT(variant.why, testing::EndsWith(".")) << variant.name;
      EXPECT_NE(to_id(variant.key) + std::to_string(variant.tune), id + "0") << variant.name;
    }
  }
}

// Duets in which the base takes 1 us and the candidate `factors` of it.
std::vector<Duet> duets_of(const std::vector<double>& factors) {
  std::vector<Duet> duets;
  for (const double factor : factors) {
    Duet duet;
    duet.base.assign(10, 1000ns);
    duet.candidate.assign(10, Nanoseconds(std::llround(1000 * factor)));
    duets.push_back(std::move(duet));
  }
  return duets;
}

TEST(VariantEffects, TheRatioOfTheTimesWithAnInterval) {
  const auto effect =
      compute_variant_effect(duets_of({0.5, 0.51, 0.49, 0.5, 0.52, 0.5, 0.48, 0.5}), {}, 1);
  ASSERT_TRUE(effect);
  EXPECT_NEAR(effect->ratio, 0.5, 0.005);
  ASSERT_TRUE(effect->low && effect->high);
  EXPECT_LT(*effect->low, 0.5);
  EXPECT_GT(*effect->high, 0.5);
  EXPECT_EQ(effect->duets, 8);
  EXPECT_EQ(effect->case_time, 1000ns);
  EXPECT_EQ(effect->variant_time, 500ns);
  EXPECT_EQ(judge_variant(*effect), VariantVerdict::faster);
}

TEST(VariantEffects, SeveralBatchesCountPerBatch) {
  const auto effect = compute_variant_effect(duets_of(std::vector(8, 1.8)), {}, 2);
  ASSERT_TRUE(effect);
  EXPECT_DOUBLE_EQ(effect->ratio, 0.9);
  EXPECT_EQ(effect->variant_time, 1800ns);
}

TEST(VariantEffects, ASavedCaseCountsOnTheSideOfTheCase) {
  // The variant takes 1.2 us in place of 1 us and 0.5 us.
  const auto effect =
      compute_variant_effect(duets_of(std::vector(8, 1.2)), duets_of(std::vector(8, 0.5)), 1);
  ASSERT_TRUE(effect);
  EXPECT_DOUBLE_EQ(effect->ratio, 0.8);
  EXPECT_EQ(effect->saved_time, 500ns);
}

TEST(VariantEffects, FewDuetsHaveNoIntervalAndNoVerdict) {
  const auto effect = compute_variant_effect(duets_of({0.5, 0.5}), {}, 1);
  ASSERT_TRUE(effect);
  EXPECT_FALSE(effect->low);
  EXPECT_EQ(judge_variant(*effect), VariantVerdict::uncertain);
  EXPECT_FALSE(compute_variant_effect({}, {}, 1));
}

// The logarithms have the mean 0 and the deviation 0.1, and Student's t is 2.365 for 7 degrees.
TEST(VariantEffects, TheRangeOfALaterDuetIsAPredictionInterval) {
  const double step = 0.1 * std::sqrt(7.0 / 8);
  std::vector<double> factors;
  for (int i = 0; i < 8; ++i) factors.push_back(std::exp(i % 2 == 0 ? step : -step));
  const auto effect = compute_variant_effect(duets_of(factors), {}, 1);
  ASSERT_TRUE(effect && effect->later_low && effect->later_high);
  const double reach = 2.3646 * 0.1 * std::sqrt(1 + 1.0 / 8);
  EXPECT_NEAR(std::log(*effect->later_low), -reach, 1e-3);
  EXPECT_NEAR(std::log(*effect->later_high), reach, 1e-3);
  EXPECT_LT(*effect->later_low, *effect->low);
  EXPECT_FALSE(compute_variant_effect(duets_of({0.5, 0.6}), {}, 1)->later_low);
}

TEST(VariantEffects, AnIntervalAroundOneIsUncertain) {
  const auto effect =
      compute_variant_effect(duets_of({0.9, 1.1, 0.95, 1.05, 1.0, 0.97, 1.02, 1.01}), {}, 1);
  ASSERT_TRUE(effect);
  EXPECT_EQ(judge_variant(*effect), VariantVerdict::uncertain);
  const auto slower = compute_variant_effect(duets_of(std::vector(8, 1.1)), {}, 1);
  ASSERT_TRUE(slower);
  EXPECT_EQ(judge_variant(*slower), VariantVerdict::slower);
}

}  // namespace
}  // namespace bench
