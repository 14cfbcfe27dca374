// SPDX-License-Identifier: Apache-2.0
// Engines for attention, all of which are compiled at run time. cuDNN recognises only graphs of one
// form; each test fails if it no longer recognises ours.
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/test_support.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

using ::testing::HasSubstr;

Problem attention(const std::string& tokens, DataType dtype = DataType::f16,
                  Direction direction = Direction::forward) {
  return bench::ops::op_test::problem("attention", tokens, dtype, direction);
}

// Expects that the first engine for a problem uses tensor cores.
void expect_tensor_cores(const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
                         const char* architecture) {
  EXPECT_EQ(known_gap(problem), std::nullopt);
  const auto engines = planned_engines(api, problem, cudnn_test::device_json(architecture), {1, 0});
  ASSERT_TRUE(engines.ok()) << engines.error().reason;
  EXPECT_TRUE(engines->front().has(EngineNote::tensor_core)) << engines->front().text();
  EXPECT_TRUE(engines->front().is_runtime_compiled) << engines->front().text();
}

// Expects that the rules about tensor cores and the gaps say whether cuDNN has an engine.
void expect_rules_agree(const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
                        const std::string& architecture, ComputeCapability capability) {
  const bool has_engine =
      planned_engines(api, problem, cudnn_test::device_json(architecture), {1, 0}).ok();
  EXPECT_EQ(assess_tensor_cores(problem, parse_platform(architecture).value()).answer,
            has_engine ? TensorCoreAnswer::eligible : TensorCoreAnswer::not_eligible);
  EXPECT_EQ(!known_gap(problem) && !expected_gap(problem, capability), has_engine);
}

TEST(AttentionEngines, ComputeWhatModelsContain) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : {"sm_80", "sm_89", "sm_90", "sm_100"}) {
    for (const char* tokens : {
             "b8h12q128d64",                            // BERT
             "h12q1024d64+causal",                      // GPT-2
             "h32g8q2048d128+causal",                   // Llama
             "h32g8q1k1024d128+causal",                 // a step of decoding
             "b4h32g8q1k1024d128l1024x300x7x1+causal",  // steps of sequences
             "h32g8q128k1024d128+causal",               // a prompt after others
             "h32g8q4096d128w1024+causal",              // a window
             "h32g8q100k4096d128w1024+causal",          //
             "h32g8q1k4096d128w1024+causal",            //
             "b4h12q384d64l384x300x7x1",                // padded sequences
             "b2h12q128k384d64l384x300+causal",         //
             "b2h12q128k384d64w50l384x300+causal",      //
             "b2h16q77k77d80",                          // uneven
             "h8q256d256+causal",                       //
             "h1q1k1d8",                                //
             "training-b8h12q128d64",                   // steps of training
             "training-h12q1024d64+causal",             //
             "training-h32g8q512d128+causal",           //
         }) {
      for (const DataType dtype : {DataType::f16, DataType::bf16}) {
        SCOPED_TRACE(fmt::format("{} {} on {}", tokens, info(dtype).name, architecture));
        expect_tensor_cores(api, attention(tokens, dtype), architecture);
      }
    }
  }
}

constexpr Direction kGradient = Direction::backward_data;

TEST(AttentionEngines, ComputeGradients) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : {"sm_80", "sm_89", "sm_90", "sm_100"}) {
    for (const char* tokens : {"b8h12q128d64", "h12q1024d64+causal", "h32g8q2048d128+causal",
                               "h32g8q128k1024d128+causal", "h32g8q4096d128w1024+causal",
                               "b2h16q77k77d80", "h8q2k3d8"}) {
      for (const DataType dtype : {DataType::f16, DataType::bf16}) {
        SCOPED_TRACE(fmt::format("{} {} on {}", tokens, info(dtype).name, architecture));
        expect_tensor_cores(api, attention(tokens, dtype, kGradient), architecture);
      }
    }
  }
}

TEST(AttentionEngines, ExistWhereTheRulesSaySo) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  struct Row {
    const char* architecture;
    ComputeCapability capability;
  };
  for (const Row& row : {Row{"sm_75", {7, 5}}, Row{"sm_80", {8, 0}}, Row{"sm_89", {8, 9}},
                         Row{"sm_90", {9, 0}}, Row{"sm_100", {10, 0}}}) {
    for (const char* tokens :
         {"h8q128d64", "h8q128d128+causal", "h8q128d136", "h8q128d256+causal", "h4q24d20"}) {
      for (const Direction direction : {Direction::forward, kGradient}) {
        SCOPED_TRACE(fmt::format("{} {} on {}", tokens, direction == kGradient ? "gradients" : "",
                                 row.architecture));
        expect_rules_agree(api, attention(tokens, DataType::f16, direction), row.architecture,
                           row.capability);
      }
    }
  }
}

TEST(AttentionEngines, NeedTensorCoresOfAmpere) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const Problem problem = attention("h12q1024d64+causal");
  const auto engines = planned_engines(api, problem, cudnn_test::device_json("sm_75"), {1, 0});
  ASSERT_FALSE(engines.ok());
  EXPECT_THAT(engines.error().reason, HasSubstr("has no engine"));
  EXPECT_THAT(expected_gap(problem, {7, 5}).value_or(""), HasSubstr("compute capability 8.0"));
  EXPECT_EQ(expected_gap(problem, {8, 0}), std::nullopt);
}

// The gaps of the table are gaps of cuDNN: the graph of such a problem has no engine.
TEST(AttentionEngines, AreMissingForUnevenHeads) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const Problem problem = attention("h4q24d20");
    const auto engines =
        planned_engines(api, problem, cudnn_test::device_json(architecture), {1, 0});
    EXPECT_FALSE(engines.ok()) << architecture;
    EXPECT_THAT(known_gap(problem).value_or(""), HasSubstr("multiple of 8"));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
