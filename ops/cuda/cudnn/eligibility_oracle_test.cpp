// SPDX-License-Identifier: Apache-2.0
// Compares the rules of ops/tensor_core with what this machine's cuDNN offers, both without a
// device. Eligible means that cuDNN offers a tensor-core engine, not that it is the first choice.
#include "ops/cuda/cudnn/test_support.hpp"
#include "ops/tensor_core/eligibility.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {
namespace {

using cudnn_test::conv_problem;
using cudnn_test::ConvCase;
using cudnn_test::device_json;
using cudnn_test::first_choice;

// The rules that describe cuDNN's first choice: it chooses an engine without tensor cores although
// it also offers one with them.
constexpr std::string_view kRulesOfTheFirstChoice[] = {"size-groups", "size-depthwise",
                                                       "size-first-layer-blackwell"};

constexpr const char* kArchitectures[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
constexpr const char* kShapes[] = {
    "n32c64h28k64r3p1",    "n32c60h28k64r3p1",    "n32c3h28k64r3p1",
    "n32c64h28k1r3p1",     "n32c256h14k256r1",    "n32g4c64h28k64r3p1",
    "n32g16c64h28k64r3p1", "n32g32c64h28k64r3p1", "n32g64c64h28k64r3p1",
};

struct Numbers {
  DataType dtype;
  Math math;
};
constexpr Numbers kNumbers[] = {{DataType::f16, Math::standard},
                                {DataType::bf16, Math::standard},
                                {DataType::f32, Math::tf32},
                                {DataType::f32, Math::standard}};

struct Pass {
  Direction direction;
  Layout layout;
};
constexpr Pass kPasses[] = {{Direction::forward, Layout::nhwc},
                            {Direction::forward, Layout::nchw},
                            {Direction::backward_data, Layout::nhwc},
                            {Direction::backward_weights, Layout::nhwc}};

std::vector<ConvCase> sweep() {
  std::vector<ConvCase> cases;
  for (const Numbers& numbers : kNumbers) {
    for (const Pass& pass : kPasses) {
      for (const char* shape : kShapes) {
        cases.push_back({shape, numbers.dtype, pass.layout, pass.direction, numbers.math});
      }
    }
  }
  return cases;
}

bool offers_tensor_cores(const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
                         const std::string& json) {
  constexpr std::int64_t kAll = 256;
  const auto engines = planned_engines(api, problem, json, {kAll, 0});
  return engines.ok() && std::any_of(engines->begin(), engines->end(), [](const auto& engine) {
           return engine.has(EngineNote::tensor_core);
         });
}

bool is_of_the_first_choice(std::string_view rule) {
  return std::find(std::begin(kRulesOfTheFirstChoice), std::end(kRulesOfTheFirstChoice), rule) !=
         std::end(kRulesOfTheFirstChoice);
}

TEST(EligibilityRules, AgreeWithWhatCudnnOffers) {
  BENCH_NEED_CUDNN(api);
  int eligible = 0, excepted = 0;
  for (const char* architecture : kArchitectures) {
    const std::string json = device_json(architecture);
    const Platform platform = parse_platform(architecture).value();
    for (const ConvCase& wanted : sweep()) {
      const Problem problem = conv_problem(wanted);
      const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
      const bool says_yes = verdict.answer == TensorCoreAnswer::eligible;
      eligible += says_yes ? 1 : 0;
      if (is_of_the_first_choice(verdict.rule)) {
        ++excepted;
        continue;
      }
      EXPECT_EQ(says_yes, offers_tensor_cores(api, problem, json))
          << fmt::format("{} {} {} on {}: {} ({})", wanted.tokens, info(wanted.dtype).name,
                         to_string(wanted.layout), architecture, verdict.reason, verdict.rule);
    }
  }
  // Both answers occur, and the exceptions are few.
  EXPECT_GT(eligible, 100);
  EXPECT_LT(excepted, 150);
}

// The rules about the first choice are correct for forward convolutions in half precision.
TEST(EligibilityRules, OfTheFirstChoiceAgreeWithIt) {
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : kArchitectures) {
    const std::string json = device_json(architecture);
    const Platform platform = parse_platform(architecture).value();
    for (const char* shape : kShapes) {
      const Problem problem = conv_problem({shape});
      const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
      const auto engine = first_choice(api, problem, json);
      ASSERT_TRUE(engine.ok()) << shape << " on " << architecture;
      EXPECT_EQ(verdict.answer == TensorCoreAnswer::eligible, engine->has(EngineNote::tensor_core))
          << shape << " on " << architecture << ": " << engine->text();
    }
  }
}

// On an H100, counters confirmed the first choice for data gradients of groups.
TEST(EligibilityRules, OfGroupsAgreeWithTheFirstChoiceForDataGradients) {
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : {"sm_80", "sm_90", "sm_100"}) {
    const std::string json = device_json(architecture);
    const Platform platform = parse_platform(architecture).value();
    for (const char* shape :
         {"n8g4c64h28k64r3p1", "n8g16c64h28k64r3p1", "n8g32c64h28k64r3p1", "n8g64c64h28k64r3p1"}) {
      for (const DataType dtype : {DataType::f16, DataType::bf16}) {
        const Problem problem =
            conv_problem({shape, dtype, Layout::nhwc, Direction::backward_data});
        const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
        const auto engine = first_choice(api, problem, json);
        ASSERT_TRUE(engine.ok()) << shape << " on " << architecture;
        EXPECT_EQ(verdict.answer == TensorCoreAnswer::eligible,
                  engine->has(EngineNote::tensor_core))
            << shape << " " << info(dtype).name << " on " << architecture << ": " << engine->text();
      }
    }
  }
}

// The copies that the rules expect agree with the workspace.
TEST(EligibilityRules, KnowTheCopiesThatTheWorkspaceShows) {
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  const Platform platform = parse_platform("sm_90").value();
  for (const ConvCase& wanted :
       {ConvCase{"n32c60h28k64r3p1"}, ConvCase{"n32c64h28k64r3p1", DataType::f16, Layout::nchw}}) {
    const Problem problem = conv_problem(wanted);
    const TensorCoreEligibility verdict = assess_tensor_cores(problem, platform);
    const auto engine = first_choice(api, problem, json);
    ASSERT_TRUE(engine.ok() && engine->workspace && verdict.copies) << wanted.tokens;
    const double shown = static_cast<double>(estimated_conversion_bytes(*engine));
    const double expected = static_cast<double>(verdict.copies->conversion_bytes);
    EXPECT_NEAR(shown / expected, 1, 0.1) << wanted.tokens;
  }
}

}  // namespace
}  // namespace bench::ops::cuda
