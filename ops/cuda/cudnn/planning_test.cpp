// SPDX-License-Identifier: Apache-2.0
// Tests which engines this machine's cuDNN would choose for devices that are only described as JSON
// ("what-if"). They confirm what our documentation says about cuDNN's heuristics. Engines and exact
// workspaces depend on the version of cuDNN, so the tests check only whether tensor cores are used
// and which copies are made.
#include "ops/cuda/cudnn/planning.hpp"

#include "ops/cuda/cudnn/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using cudnn_test::conv_problem;
using cudnn_test::ConvCase;
using cudnn_test::device_json;
using cudnn_test::first_choice;
using ::testing::HasSubstr;
using ::testing::Not;

enum class Answer { tensor_core, other, refused };

// Per architecture, in this order.
const char* const kPlannedArchitectures[] = {"sm_75", "sm_80", "sm_90", "sm_100"};
struct Row {
  const char* what;
  ConvCase wanted;
  Answer answers[4];
};

constexpr Answer kYes = Answer::tensor_core;
constexpr Answer kNo = Answer::other;
constexpr Answer kRefused = Answer::refused;

std::vector<Row> rows() {
  const std::string plain = "n32c64h28k64r3p1";
  return {
      {"half nhwc", {plain}, {kYes, kYes, kYes, kYes}},
      {"60 input channels", {"n32c60h28k64r3p1"}, {kYes, kYes, kYes, kYes}},
      {"3 input channels", {"n32c3h28k64r3p1"}, {kYes, kYes, kYes, kNo}},
      {"60 output channels", {"n32c64h28k60r3p1"}, {kYes, kYes, kYes, kYes}},
      {"half nchw", {plain, DataType::f16, Layout::nchw}, {kYes, kYes, kYes, kYes}},
      {"4 groups", {"n32g4c64h28k64r3p1"}, {kYes, kYes, kYes, kYes}},
      {"32 groups", {"n32g32c64h28k64r3p1"}, {kNo, kNo, kNo, kNo}},
      {"depthwise", {"n32g64c64h28k64r3p1"}, {kNo, kNo, kNo, kNo}},
      {"gradient of the input",
       {plain, DataType::f16, Layout::nhwc, Direction::backward_data},
       {kYes, kYes, kYes, kYes}},
      {"gradient of the weights",
       {plain, DataType::f16, Layout::nhwc, Direction::backward_weights},
       {kYes, kYes, kYes, kYes}},
      {"tf32",
       {plain, DataType::f32, Layout::nhwc, Direction::forward, Math::tf32},
       {kNo, kYes, kYes, kYes}},
      {"float without tf32", {plain, DataType::f32}, {kNo, kNo, kNo, kNo}},
      {"double", {plain, DataType::f64}, {kNo, kNo, kNo, kNo}},
      {"bf16", {plain, DataType::bf16}, {kRefused, kYes, kYes, kYes}},
      {"one dimension", {"n32c64w28k64s3p1"}, {kYes, kYes, kYes, kYes}},
      {"three dimensions", {"n2c64d8h28k64t3r3p1"}, {kYes, kYes, kYes, kYes}},
      {"transposed", {"n32c64h28k64r3p1+transposed"}, {kYes, kYes, kYes, kYes}},
  };
}

TEST(PlannedEngines, UseTensorCoresAsTheManualSays) {
  BENCH_NEED_CUDNN(api);
  for (std::size_t device = 0; device < std::size(kPlannedArchitectures); ++device) {
    const std::string json = device_json(kPlannedArchitectures[device]);
    for (const Row& row : rows()) {
      SCOPED_TRACE(fmt::format("{} on {}", row.what, kPlannedArchitectures[device]));
      const auto engine = first_choice(api, conv_problem(row.wanted), json);
      const Answer expected = row.answers[device];
      ASSERT_EQ(engine.ok(), expected != kRefused) << (engine.ok() ? "" : engine.error().reason);
      if (!engine) continue;
      EXPECT_EQ(engine->has(EngineNote::tensor_core), expected == kYes) << engine->text();
    }
  }
}

// Padded channels need one copy of the input. Layout nchw needs copies of input and output.
TEST(PlannedEngines, HiddenCopiesShowInTheWorkspace) {
  BENCH_NEED_CUDNN(api);
  // bytes of either tensor, padded to 64
  const std::int64_t tensor = std::int64_t{32} * 28 * 28 * 64 * 2;
  const std::string json = device_json("sm_90");
  const auto nhwc = first_choice(api, conv_problem({"n32c64h28k64r3p1"}), json);
  const auto padded_channels = first_choice(api, conv_problem({"n32c60h28k64r3p1"}), json);
  const auto nchw =
      first_choice(api, conv_problem({"n32c64h28k64r3p1", DataType::f16, Layout::nchw}), json);
  ASSERT_TRUE(nhwc.ok() && padded_channels.ok() && nchw.ok());
  constexpr std::int64_t kSmall = 256 << 10;  // filters and bookkeeping
  EXPECT_LT(*nhwc->workspace, kSmall);
  EXPECT_GE(*padded_channels->workspace, tensor);
  EXPECT_LT(*padded_channels->workspace, tensor + kSmall);
  EXPECT_GE(*nchw->workspace, 2 * tensor);
  EXPECT_LT(*nchw->workspace, 2 * tensor + kSmall);
  EXPECT_EQ(estimated_conversion_bytes(*padded_channels), 2 * *padded_channels->workspace);
}

TEST(PlannedEngines, AreListedInTheHeuristicsOrderWithTheirNotes) {
  BENCH_NEED_CUDNN(api);
  const auto engines =
      planned_engines(api, conv_problem({"n32c64h28k64r3p1"}), device_json("sm_80"), {8, 2});
  ASSERT_TRUE(engines.ok()) << engines.error().reason;
  EXPECT_EQ(engines->size(), 8u);
  EXPECT_TRUE((*engines)[0].workspace && (*engines)[1].workspace);
  EXPECT_FALSE((*engines)[2].workspace);
  EXPECT_THAT((*engines)[0].text(), HasSubstr("tensor core; workspace "));
  for (const PlannedEngine& engine : *engines) {
    EXPECT_FALSE(engine.has(EngineNote::down_convert_inputs));
  }
}

// Frameworks run the first convolution of a ResNet with an engine that has this note. An H100 takes
// 82 us with it, and 186 us or more with any other engine.
TEST(PlannedEngines, ContainTheEngineForFirstLayers) {
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  const std::string first_layer = "n32c3h224k64r7s7u2p3";
  const auto half = first_choice(api, conv_problem({first_layer}), json);
  ASSERT_TRUE(half.ok()) << half.error().reason;
  EXPECT_TRUE(half->has(EngineNote::reduced_precision_reduction)) << half->text();
  EXPECT_TRUE(half->has(EngineNote::tensor_core)) << half->text();
  EXPECT_THAT(half->text(), HasSubstr("sums in reduced precision"));
  for (const Math math : {Math::standard, Math::tf32}) {
    const auto engines = planned_engines(
        api, conv_problem({first_layer, DataType::f32, Layout::nhwc, Direction::forward, math}),
        json, {16, 0});
    ASSERT_TRUE(engines.ok()) << engines.error().reason;
    for (const PlannedEngine& engine : *engines) {
      EXPECT_FALSE(engine.has(EngineNote::reduced_precision_reduction)) << engine.text();
      EXPECT_TRUE(math == Math::tf32 || !engine.has(EngineNote::tensor_core)) << engine.text();
    }
  }
}

// cuDNN copies 3 channels to 4 in its workspace, in each execution. A padded source needs no copy.
TEST(PlannedEngines, ForPaddedFirstLayersNeedNoCopy) {
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  constexpr std::int64_t kPaddedSource = std::int64_t{32} * 224 * 224 * 4 * 2;
  for (const char* epilogue : {"", "+bias+relu"}) {
    SCOPED_TRACE(epilogue);
    const Problem conv =
        conv_problem({fmt::format("n32c3h224k64r7s7u2p3{}", epilogue), DataType::f16});
    const auto padded = padded_part(conv);
    ASSERT_TRUE(padded);
    const auto plain_engine = first_choice(api, conv, json);
    const auto padded_engine = first_choice(api, *padded, json);
    ASSERT_TRUE(plain_engine.ok() && padded_engine.ok());
    EXPECT_GE(*plain_engine->workspace, kPaddedSource) << plain_engine->text();
    EXPECT_LT(*padded_engine->workspace, kPaddedSource / 64) << padded_engine->text();
    EXPECT_TRUE(padded_engine->has(EngineNote::tensor_core)) << padded_engine->text();
    EXPECT_EQ(padded_engine->index, plain_engine->index);
  }
}

TEST(ListedEngines, NameEveryConfigurationWithItsReason) {
  BENCH_NEED_CUDNN(api);
  const auto listed = all_listed_engines(api, conv_problem({"n32c3h224k64r7s7u2p3", DataType::f32}),
                                         device_json("sm_90"));
  ASSERT_TRUE(listed.ok()) << listed.error().reason;
  std::set<std::string> configurations;
  std::size_t excluded = 0;
  for (const ListedEngine& engine : *listed) {
    EXPECT_TRUE(
        configurations.insert(fmt::format("{} {}", engine.engine.index, engine.knobs)).second)
        << engine.text();
    EXPECT_THAT(engine.knobs, Not(HasSubstr("not readable")));
    if (!engine.engine.has(EngineNote::tensor_core)) continue;
    ++excluded;
    EXPECT_THAT(engine.text(), HasSubstr("; not used: they compute f32 as TF32"));
  }
  EXPECT_GT(excluded, 0u);
  EXPECT_LT(excluded, listed->size());
  EXPECT_EQ(listed->front().position, 1);
  EXPECT_EQ(listed->front().list, EngineList::instant);
  EXPECT_EQ(listed->back().list, EngineList::fallback);
}

TEST(PlannedEngines, RefuseWithTheReason) {
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  const auto reason = [&](const Problem& problem, const std::string& device) {
    const auto engines = planned_engines(api, problem, device, {1, 0});
    return engines.ok() ? std::string("accepted") : engines.error().reason;
  };
  EXPECT_THAT(reason(conv_problem({"n2c8h9k8r3+hardswish"}), json), HasSubstr("`hardswish`"));
  EXPECT_THAT(reason(conv_problem({"n2c8h9k8r3+transposed+bias"}), json),
              HasSubstr("after a transposed convolution"));
  EXPECT_THAT(reason(bench::ops::op_test::problem("gemm", "m4n4k4"), json),
              HasSubstr("cuDNN has no kernel for gemm"));
  EXPECT_THAT(reason(conv_problem({"n2c8h9k8r3"}), "{}"), HasSubstr("the device's properties"));
}

TEST(PlannedEngine, AsText) {
  PlannedEngine engine;
  engine.index = 7;
  EXPECT_EQ(engine.text(), "engine 7: workspace n/a");
  engine.notes = {EngineNote::tensor_core, EngineNote::winograd};
  engine.is_runtime_compiled = true;
  engine.workspace = 1025;
  EXPECT_EQ(engine.text(),
            "engine 7: tensor core, Winograd, compiled at run time; workspace 2 KiB");
}

}  // namespace
}  // namespace bench::ops::cuda
