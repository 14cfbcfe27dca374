// SPDX-License-Identifier: Apache-2.0
#include "ops/flop_convention.hpp"

#include "ops/test_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace bench::ops {
namespace {

using op_test::problem;

struct ConventionCase {
  std::string_view op, tokens;
  std::int64_t bench, torch, fvcore, xla, deepspeed;
};

// Values by hand. Those of xla for conv, gemm and pool are what jax 0.10 reports for these sizes.
TEST(FlopConvention, EachToolCountsByItsRules) {
  constexpr std::int64_t kTaps = 2 * 8 * 4 * 81 * 9, kValid = 2 * 8 * 4 * 25 * 25;
  for (const auto& [op, tokens, bench, torch, fvcore, xla, deepspeed] : std::vector<ConventionCase>{
           {"conv", "n2c4h9k8r3p1", 2 * kTaps, 2 * kTaps, kTaps, 2 * kValid, 2 * kTaps},
           {"conv", "n2c4h9k8r3p1+bias", 2 * kTaps + 1296, 2 * kTaps, kTaps, 2 * kValid + 1296,
            2 * kTaps + 1296},
           {"conv", "n2c4h9k8r3p1+relu", 2 * kTaps + 1296, 2 * kTaps, kTaps, 2 * kValid + 1296,
            2 * kTaps + 1296},
           {"conv", "n2c4h9k8r3p1+tanh", 2 * kTaps, 2 * kTaps, kTaps, 2 * kValid, 2 * kTaps},
           {"gemm", "m8n32k16+bias", 8192 + 256, 8192, 4096, 8192 + 256, 8192},
           {"grouped_gemm", "5x3-n32k16", 8192, 8192, 4096, 8192, 8192},
           {"pool", "max-c1h9r3u2p1", 25 * 8, 0, 0, 25 * 8, 81},
           {"pool", "avg_exclude_pad-n2c8h4+global", 16 * 16, 0, 256, 16 * 16, 256},
           {"pool", "avg_exclude_pad-n2c8w16+global", 16 * 16, 0, 0, 16 * 16, 256},
           {"pool", "avg_exclude_pad-n2c8d2h2w4+global", 16 * 16, 0, 0, 16 * 16, 256},
           {"batch_norm", "n2c8h4", 1024, 0, 512, 1024, 512},
           {"batch_norm", "n2c8h4+noscale+noshift", 512, 0, 256, 512, 256},
           {"batch_norm", "n2c8h4+noshift", 768, 0, 512, 768, 512},
           {"batch_norm", "training-n2c8h4", 2048, 0, 1280, 2048, 1280},
           {"batch_norm", "training-n2c8h4+noscale", 1792, 0, 1024, 1792, 1024},
           {"layer_norm", "10x100", 8000, 0, 5000, 8000, 5000},
           {"layer_norm", "10x100+noscale+noshift", 6000, 0, 4000, 6000, 4000},
           {"softmax", "10x100", 4000, 0, 0, 4000, 1000},
           {"softmax", "10x100+log", 4000, 0, 0, 4000, 0},
           {"pointwise", "relu-10x10", 100, 0, 0, 100, 100},
           {"pointwise", "hardswish-10x10", 400, 0, 0, 400, 0},
           {"pointwise", "add-10x10-10", 100, 0, 0, 100, 100},
           {"pointwise", "div-10x10-10", 100, 0, 0, 100, 0},
           {"swiglu", "10x10", 400, 0, 0, 400, 200},
           {"rms_norm", "10x100", 4000, 0, 0, 4000, 0},
           {"reorder", "10x10-p1x0", 0, 0, 0, 0, 0},
       }) {
    const Problem counted = problem(op, tokens);
    const auto count = [&](FlopConvention convention) { return count_flops(counted, convention); };
    SCOPED_TRACE(std::string(op) + " " + std::string(tokens));
    EXPECT_EQ(count(FlopConvention::bench), bench);
    EXPECT_EQ(count(FlopConvention::torch), torch);
    EXPECT_EQ(count(FlopConvention::fvcore), fvcore);
    EXPECT_EQ(count(FlopConvention::xla), xla);
    EXPECT_EQ(count(FlopConvention::deepspeed), deepspeed);
  }
}

// Two heads, 16 queries, 16 keys, of 8 elements. jax 0.10 reports 18,912 for it: its softmax of 32
// rows needs 32 fewer.
TEST(FlopConvention, OnlyBenchLeavesOutMaskedPairs) {
  constexpr std::int64_t kPairs = 2 * 16 * 16;
  const Problem causal = problem("attention", "h2q16d8+causal");
  EXPECT_EQ(count_flops(causal, FlopConvention::bench), 4 * 2 * (16 * 17 / 2) * 8);
  EXPECT_EQ(count_flops(causal, FlopConvention::torch), 4 * kPairs * 8);
  EXPECT_EQ(count_flops(causal, FlopConvention::fvcore), 2 * kPairs * 8);
  EXPECT_EQ(count_flops(causal, FlopConvention::xla), 18912 + 32);
  EXPECT_EQ(count_flops(causal, FlopConvention::deepspeed), 4 * kPairs * 8);
}

// torch.utils.flop_counter multiplies the channels of all groups for a gradient of weights.
TEST(FlopConvention, GradientsAreThoseOfTheTool) {
  const Problem data = problem("conv", "n2g4c4h9k8r3p1", DataType::f32, Direction::backward_data);
  const Problem weights =
      problem("conv", "n2g4c4h9k8r3p1", DataType::f32, Direction::backward_weights);
  EXPECT_EQ(count_flops(data, FlopConvention::torch), data.work.flops);
  EXPECT_EQ(count_flops(weights, FlopConvention::torch), 4 * weights.work.flops);
  for (const FlopConvention forward_only : {FlopConvention::fvcore, FlopConvention::deepspeed}) {
    EXPECT_EQ(count_flops(data, forward_only), std::nullopt);
    EXPECT_EQ(count_flops(weights, forward_only), std::nullopt);
  }
}

TEST(FlopConvention, OperatorsOfPluginsHaveNoFormulaElsewhere) {
  Problem own = problem("gemm", "m8n32k16");
  const Operator copy = *own.op;
  own.op = &copy;
  EXPECT_EQ(count_flops(own, FlopConvention::bench), 8192);
  EXPECT_EQ(count_flops(own, FlopConvention::xla), 8192);
  EXPECT_EQ(count_flops(own, FlopConvention::torch), std::nullopt);
  EXPECT_EQ(count_flops(own, FlopConvention::fvcore), std::nullopt);
}

}  // namespace
}  // namespace bench::ops
