// SPDX-License-Identifier: Apache-2.0
// Tests on a scripted device which engine the backend takes, what becomes of engines that are wrong
// or cannot be planned, and how a network's layers are planned and chosen.
#include "ops/cuda/cudnn/backend_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using cudnn_test::step_names;
using cudnn_test::three_convolutions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EngineChoiceTest : public cudnn_test::CudnnBackendTest {};

TEST_F(EngineChoiceTest, AnRejectedEngineIsFollowedByTheNextOne) {
  cudnn_.engines = {
      {.index = 3, .computes = false}, {.index = 4, .finishes = false}, {.index = 6}, {.index = 9}};
  for (const char* tokens : {"n2c4h5k6r3p1", "n2c4h5k6r3p1+hardswish"}) {
    const Problem conv = problem("conv", tokens, DataType::f16);
    compute_by_reference(conv, conv.post_ops.empty() ? DataType::f16 : DataType::f32);
    EXPECT_THAT(create(conv)->implementation(), HasSubstr("cudnn:engine_3"));
    EXPECT_TRUE(backend().reject_last_engine("destination[0]: got 2, want 1"));
    const auto second = create(conv);
    EXPECT_THAT(second->implementation(), HasSubstr("cudnn:engine_6"));
    EXPECT_EQ(second->details().at("rejected_engines"),
              "engine_3 7=2: destination[0]: got 2, want 1");
    expect_reference(conv, *second);
    EXPECT_TRUE(backend().reject_last_engine("it failed"));
    const auto third = create(conv);
    EXPECT_THAT(third->implementation(), HasSubstr("cudnn:engine_9"));
    EXPECT_THAT(third->details().at("rejected_engines"), HasSubstr("; engine_6 7=2: it failed"));
    // There is no other one, so nothing changes.
    EXPECT_FALSE(backend().reject_last_engine("wrong too"));
    EXPECT_EQ(create(conv)->implementation(), third->implementation());
  }
}

// A process that repeats the choices of another one takes the same engine, also if it checks no
// result.
TEST_F(EngineChoiceTest, RejectedEnginesPassToFurtherProcesses) {
  cudnn_.engines = {{.index = 3}, {.index = 4}, {.index = 6}};
  const Problem conv = problem("conv", "n2c4h5k6r3p1", DataType::f16);
  create(conv);
  ASSERT_TRUE(backend().reject_last_engine("wrong:\telement 2\nof 4"));
  create(conv);
  const std::string choices = device_.runtime->choices().text();

  backend_.reset();  // the backend of another process
  device_.runtime->choices().fix(choices);
  const auto kernel = create(conv);
  EXPECT_EQ(kernel->implementation(), "cudnn:engine_4");
  EXPECT_EQ(kernel->details().at("rejected_engines"), "engine_3 7=2: wrong: element 2 of 4");
  EXPECT_EQ(device_.runtime->choices().text(), choices);
  // One that is wrong here too joins them.
  EXPECT_TRUE(backend().reject_last_engine("wrong"));
  EXPECT_EQ(create(conv)->implementation(), "cudnn:engine_6");
  // Choices of another case, without rejected engines, leave this process's own.
  device_.runtime->choices().fix("");
  EXPECT_EQ(create(conv)->implementation(), "cudnn:engine_6");
}

TEST_F(EngineChoiceTest, ANativeKernelHasNoOtherEngine) {
  create(problem("conv", "n2c4h5k6r3p1", DataType::f16));
  create(problem("softmax", "4x10", DataType::f16));
  EXPECT_FALSE(backend().reject_last_engine("wrong"));
}

// A fused engine that is compiled at run time may be slower than a precompiled engine and a native
// kernel behind it. Each problem is measured once.
TEST_F(EngineChoiceTest, NetworksMeasureWhetherFusingIsFaster) {
  using namespace std::chrono_literals;
  const Network network =
      bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16);
  for (const auto& [fused, alone] : {std::pair(400us, 100us), std::pair(100us, 100us)}) {
    backend_.reset();
    cudnn_.engines = {{.index = 7, .time = fused}};
    cudnn_.engines_of_one = {{.index = 47, .time = alone}};
    const auto kernel = backend().create(network);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    const auto details = (*kernel)->details();
    if (fused > alone) {
      EXPECT_THAT(step_names(**kernel),
                  ElementsAre("a:bench:reorder_pixels", "a:cudnn:engine_47", "a:bench:elementwise",
                              "b:cudnn:engine_47", "b:bench:elementwise", "c:cudnn:engine_47",
                              "c:bench:elementwise", "c:bench:reorder_pixels"));
      EXPECT_THAT(details.at("choice.a"), HasSubstr("chosen 101.0 us"));
    } else {
      EXPECT_THAT(step_names(**kernel),
                  ElementsAre("a:bench:reorder_pixels", "a:cudnn:engine_7", "b:cudnn:engine_7",
                              "c:cudnn:engine_7", "c:bench:reorder_pixels"));
      EXPECT_THAT(details.at("choice.a"), HasSubstr("kept"));
    }
    EXPECT_THAT(details.at("choice.a"), HasSubstr("graph cudnn:engine_7"));
    EXPECT_THAT(details.at("choice.a"), HasSubstr("parts cudnn:engine_47 + bench:elementwise"));
    EXPECT_FALSE(details.contains("choice.b"));
    EXPECT_TRUE(details.contains("choice.c"));
    EXPECT_TRUE(details.contains("setup.tuning_ns"));
  }
}

// A convolution of few channels may be faster if a native kernel pads its source first. The padding
// is part of each execution, so its time counts.
TEST_F(EngineChoiceTest, FewChannelsArePaddedWhereThatIsFaster) {
  using namespace std::chrono_literals;
  for (const auto& [plain, padded] : {std::pair(100us, 60us), std::pair(61us, 60us)}) {
    SCOPED_TRACE(plain.count());
    backend_.reset();
    cudnn_.work = nullptr;
    cudnn_.engines_by_channels = {{3, {{.index = 63, .time = plain}}},
                                  {4, {{.index = 64, .time = padded}}}};
    backend().set_tuning(2);
    const Problem conv = problem("conv", "n2c3h5k6r3p1", DataType::f16);
    const auto kernel = create(conv);
    const auto details = kernel->details();
    EXPECT_TRUE(details.contains("setup.tuning_ns"));
    EXPECT_TRUE(details.contains("setup.plan_ns"));
    EXPECT_FALSE(details.contains("sample_method")) << "of the measurement before the choice";
    EXPECT_THAT(details.at("choice.conv"), HasSubstr("graph cudnn:engine_63"));
    EXPECT_THAT(details.at("choice.conv"),
                HasSubstr("padded bench:pad_channels + cudnn:engine_64 61.00 us"));
    const bool is_padded = plain > 61us;
    EXPECT_THAT(details.at("choice.conv"), HasSubstr(is_padded ? "chosen 61.00 us" : "kept"));
    EXPECT_EQ(kernel->implementation(),
              is_padded ? "bench:pad_channels + cudnn:engine_64" : "cudnn:engine_63");
    EXPECT_EQ(kernel->buffers()[0].size, conv.tensors[0].size());
    compute_by_reference(is_padded ? problem("conv", "n2c4h5k6r3p1", DataType::f16) : conv,
                         DataType::f16);
    expect_reference(conv, *kernel);
    // The next creation, and another process, repeat the choice without measuring.
    const std::string choices = device_.runtime->choices().text();
    cudnn_.engines_by_channels = {{3, {{.index = 63, .time = 1us}}},
                                  {4, {{.index = 64, .time = padded}}}};
    EXPECT_EQ(create(conv)->implementation(), kernel->implementation());
    backend_.reset();
    device_.runtime->choices().fix(choices);
    backend().set_tuning(2);
    const auto repeated = create(conv);
    EXPECT_EQ(repeated->implementation(), kernel->implementation());
    EXPECT_THAT(repeated->details().at("choice.conv"), HasSubstr("as chosen before for the case"));
    device_.runtime->choices().fix("");
  }
}

// Without measuring, cuDNN's own engine for the problem runs.
TEST_F(EngineChoiceTest, FewChannelsAreNotPaddedWithoutMeasuring) {
  cudnn_.engines_by_channels = {{3, {{.index = 63}}}, {4, {{.index = 64}}}};
  EXPECT_EQ(create(problem("conv", "n2c3h5k6r3p1", DataType::f16))->implementation(),
            "cudnn:engine_63");
}

// The engine that is rejected is that of the chosen way, not of the one that was measured last.
TEST_F(EngineChoiceTest, ARejectedEngineIsOfTheChosenWay) {
  using namespace std::chrono_literals;
  const Problem conv = problem("conv", "n2c3h5k6r3p1", DataType::f16);
  for (const auto& [plain, padded] : {std::pair(100us, 60us), std::pair(60us, 60us)}) {
    SCOPED_TRACE(plain.count());
    backend_.reset();
    cudnn_.engines_by_channels = {
        {3, {{.index = 63, .time = plain}, {.index = 65, .time = plain}}},
        {4, {{.index = 64, .time = padded}, {.index = 66, .time = padded}}}};
    backend().set_tuning(1);
    const bool is_padded = plain > padded;
    EXPECT_EQ(create(conv)->implementation(),
              is_padded ? "bench:pad_channels + cudnn:engine_64" : "cudnn:engine_63");
    EXPECT_TRUE(backend().reject_last_engine("wrong"));
    const auto next = create(conv);
    EXPECT_EQ(next->implementation(),
              is_padded ? "bench:pad_channels + cudnn:engine_66" : "cudnn:engine_65");
    EXPECT_THAT(next->details().at("rejected_engines"), HasSubstr("wrong"));
    device_.runtime->choices().fix("");
  }
}

TEST_F(EngineChoiceTest, NetworksPadFewChannelsWhereThatIsFaster) {
  using namespace std::chrono_literals;
  NetworkDefinition definition = three_convolutions();
  definition.input = {3, 6, 6};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f16);
  cudnn_.engines_by_channels = {{3, {{.index = 63, .time = 100us}}},
                                {4, {{.index = 64, .time = 60us}}}};
  const auto kernel = backend().create(network);
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  EXPECT_THAT(step_names(**kernel),
              ElementsAre("a:bench:reorder_pixels", "a:bench:pad_channels", "a:cudnn:engine_64",
                          "b:cudnn:engine_0", "c:cudnn:engine_0", "c:bench:reorder_pixels"));
  EXPECT_THAT((*kernel)->details().at("choice.a"),
              HasSubstr("padded bench:pad_channels + cudnn:engine_64"));
}

// All plans exist before the first kernel is created, one for each distinct problem.
TEST_F(EngineChoiceTest, NetworksPlanEachProblemOnce) {
  const Network network =
      bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16);
  const auto first = backend().create(network);
  ASSERT_TRUE(first.ok()) << first.error().reason;
  EXPECT_EQ(cudnn_.plans, 4);  // two problems, each fused and without bias and post-ops
  EXPECT_TRUE((*first)->details().contains("setup.plan_ns"));
  const auto second = backend().create(network);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(cudnn_.plans, 4);
  EXPECT_EQ(step_names(**first), step_names(**second));
  EXPECT_FALSE((*second)->details().contains("setup.plan_ns"));
}

// Also the time of plans that failed, and of those that the network does not use.
TEST_F(EngineChoiceTest, AllPlanningIsInTheReportedTime) {
  using namespace std::chrono_literals;
  const auto planning_time = [](const Kernel& kernel) {
    return Nanoseconds(std::stoll(kernel.details().at("setup.plan_ns")));
  };
  const Network network =
      bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16);
  for (const auto& [fused, alone] : {std::pair(400us, 100us), std::pair(100us, 100us)}) {
    backend_.reset();
    cudnn_.engines = {{.index = 7, .time = fused, .planning = 3ms}};
    cudnn_.engines_of_one = {{.index = 47, .time = alone, .planning = 1ms}};
    const auto kernel = backend().create(network);
    ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
    EXPECT_GE(planning_time(**kernel), 2 * 3ms + 2 * 1ms);
    EXPECT_LT(planning_time(**kernel), 9ms);
  }
  backend_.reset();
  cudnn_.engines = {{.index = 7, .finishes = false, .planning = 3ms}};
  const Problem conv = problem("conv", "n2c4h5k6r3p1+bias+relu", DataType::f16);
  const auto parts = create(conv);
  EXPECT_THAT(parts->implementation(), HasSubstr("cudnn:engine_47"));
  EXPECT_GE(planning_time(*parts), 3ms + 1ms);
  EXPECT_LT(planning_time(*parts), 5ms);
}

// cuDNN is not asked again for a plan that it could not finish.
TEST_F(EngineChoiceTest, PlansThatFailAreTriedOnce) {
  cudnn_.engines = {{.index = 7, .finishes = false}};
  cudnn_.engines_of_one = {{.index = 47}};
  const Problem conv = problem("conv", "n2c4h5k6r3p1+bias+relu", DataType::f16);
  for (int i = 0; i < 3; ++i) create(conv);
  EXPECT_EQ(cudnn_.failed_plans, 1);
  EXPECT_EQ(cudnn_.plans, 1);
  // Another tuning asks for other plans.
  backend().set_tuning(2);
  create(conv);
  EXPECT_EQ(cudnn_.failed_plans, 2);
  // Layers that have one way only.
  backend_.reset();
  cudnn_.failed_plans = 0;
  const Network network =
      bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(backend().create(network).ok());
  EXPECT_EQ(cudnn_.failed_plans, 2);  // two problems
}

// Plans may fail in any order. The error is that of the first layer.
TEST_F(EngineChoiceTest, NetworksReportTheFirstLayerWithoutAPlan) {
  cudnn_.engines = {{.index = 7, .finishes = false}};
  for (int i = 0; i < 10; ++i) {
    const auto kernel = backend().create(
        bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16));
    ASSERT_FALSE(kernel.ok());
    EXPECT_THAT(kernel.error().reason, ::testing::StartsWith("a: "));
  }
}

// Kernels keep the handles of their plans, also when the backend is destroyed first.
TEST_F(EngineChoiceTest, PlansOfANetworkOutliveTheirBackend) {
  auto kernel = backend().create(
      bench::ops::op_test::make(three_convolutions(), Fusion::fused, DataType::f16));
  ASSERT_TRUE(kernel.ok()) << kernel.error().reason;
  backend_.reset();
  EXPECT_GT(cudnn_.live(), 0);
  EXPECT_GT(cudnn_.handles, 0);
  kernel->reset();
  EXPECT_EQ(cudnn_.live(), 0);
  EXPECT_EQ(cudnn_.handles, 0);
}

}  // namespace
}  // namespace bench::ops::cuda
