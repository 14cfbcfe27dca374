// SPDX-License-Identifier: Apache-2.0
// Plans the beginning and the end of ResNet-50 for devices that this machine does not have.
#include "ops/cuda/cudnn/network_plan.hpp"

#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/test_support.hpp"
#include "ops/network/test_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::layer;
using cudnn_test::device_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NetworkDefinition small_resnet() {
  return {.name = "small_resnet",
          .input = {3, 224, 224},
          .layers = {layer("conv1", "conv", "k64r7s7u2p3+bias", {"input"}),
                     layer("conv1.relu", "pointwise", "relu", {"conv1"}),
                     layer("maxpool", "pool", "max-r3u2p1", {"conv1.relu"}),
                     layer("short", "conv", "k256r1s1+bias", {"maxpool"}),
                     layer("reduce", "conv", "k64r1s1+bias", {"maxpool"}),
                     layer("reduce.relu", "pointwise", "relu", {"reduce"}),
                     layer("expand", "conv", "k256r1s1+bias", {"reduce.relu"}),
                     layer("add", "pointwise", "add", {"expand", "short"}),
                     layer("relu", "pointwise", "relu", {"add"}),
                     layer("avgpool", "pool", "avg_include_pad+global", {"relu"}),
                     layer("fc", "gemm", "n1000+tb+bias", {"avgpool"})}};
}

// "NODE WAY KIND LAYOUTS", without the engines' numbers, which change with cuDNN's version.
std::vector<std::string> lines_of(const std::vector<PlannedStep>& steps) {
  std::vector<std::string> lines;
  for (const auto& [step, way, other_ways] : steps) {
    lines.push_back(fmt::format("{} {} {} {}", step.node, to_string(way), step.kind, step.layouts));
  }
  return lines;
}

NetworkQuestion question_about(const std::shared_ptr<const CudnnApi>& api, const std::string& json,
                               ComputeCapability capability) {
  return {api, capability, json};
}

NetworkDefinition one_convolution(const std::string& function) {
  return {.name = "two",
          .input = {4, 8, 8},
          .layers = {layer("conv", "conv", "k8r3s3p1+bias", {"input"}),
                     layer("after", "pointwise", function, {"conv"})}};
}

TEST(NetworkPlan, OfAResNetMovesOnlyItsInput) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const Network network =
      bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::f16, 32);
  const std::string json = device_json("sm_90");
  const auto steps = plan_network(question_about(api, json, {9, 0}), network);
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  EXPECT_THAT(lines_of(*steps), ElementsAre("conv1 transpose reorder nchw -> nhwc",
                                            "conv1 graph conv nhwc -> nhwc, weights nhwc/plain",
                                            "maxpool graph pool nhwc -> nhwc",
                                            "short graph conv nhwc -> nhwc, weights nhwc/plain",
                                            "reduce graph conv nhwc -> nhwc, weights nhwc/plain",
                                            "expand graph conv nhwc -> nhwc, weights nhwc/plain",
                                            "avgpool graph pool nhwc -> nhwc",
                                            "fc product gemm plain -> plain, weights plain"));
  EXPECT_EQ(steps->front().step.implementation, "bench:reorder_pixels");
  EXPECT_THAT((*steps)[1].step.implementation, ::testing::StartsWith("cudnn:engine_"));
  for (const PlannedStep& step : *steps) EXPECT_NE(step.step.implementation, kUnknownEngine);
  EXPECT_NE(find_driver(), DriverPresence::absent);
  EXPECT_THAT((*steps)[1].other_ways, ElementsAre(StepWay::parts, StepWay::padded));
  EXPECT_THAT((*steps)[2].other_ways, ElementsAre(StepWay::native));
}

// cuDNN has no pointwise function `hardswish`, so a native kernel follows the convolution.
TEST(NetworkPlan, SplitsWhatIsNotFused) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const Network network =
      bench::ops::op_test::make(one_convolution("hardswish"), Fusion::fused, DataType::f32, 2);
  const std::string json = device_json("sm_90");
  const auto steps = plan_network(question_about(api, json, {9, 0}), network);
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  ASSERT_EQ(steps->size(), 2u);
  for (const PlannedStep& planned : *steps) {
    EXPECT_EQ(planned.way, StepWay::parts);
    EXPECT_EQ(planned.step.node, "conv");
    EXPECT_THAT(planned.other_ways, ElementsAre());
  }
  EXPECT_EQ((*steps)[1].step.implementation, "bench:elementwise");
}

// cuBLASLt's epilogues have no `hardswish` either.
TEST(NetworkPlan, SplitsAProductAsADeviceDoes) {
  const NetworkDefinition definition{.name = "product",
                                     .input = {64, 1, 1},
                                     .layers = {layer("fc", "gemm", "n16+tb+bias", {"input"}),
                                                layer("after", "pointwise", "hardswish", {"fc"})}};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f16, 8);
  const auto steps = plan_network({nullptr, {9, 0}}, network);
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  EXPECT_THAT(lines_of(*steps), ElementsAre("fc parts gemm plain -> plain, weights plain",
                                            "fc parts epilogue plain -> plain"));
}

// A block of a transformer: products of two activations with the library for products, all else
// where each operator has a kernel, and nothing is moved between them.
TEST(NetworkPlan, OfAttentionMovesNothing) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  for (const DataType dtype : {DataType::f32, DataType::bf16}) {
    const Network network = bench::ops::op_test::make(bench::ops::op_test::attention_network(),
                                                      Fusion::fused, dtype, 2);
    const auto steps = plan_network(question_about(api, json, {9, 0}), network);
    ASSERT_TRUE(steps.ok()) << steps.error().reason;
    const std::vector<std::string> lines = lines_of(*steps);
    for (const std::string& line : lines) EXPECT_THAT(line, ::testing::Not(HasSubstr("reorder")));
    for (const char* line :
         {"scores product gemm plain -> plain", "context product gemm plain -> plain"})
      EXPECT_THAT(lines, ::testing::Contains(line)) << fmt::format("{}", fmt::join(lines, "\n"));
  }
}

TEST(NetworkPlan, NamesTheLayerWithoutAKernel) {
  BENCH_NEED_CUDNN(api);
  const Network network =
      bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::bf16, 2);
  const std::string json = device_json("sm_75");
  const auto steps = plan_network(question_about(api, json, {7, 5}), network);
  ASSERT_FALSE(steps.ok());
  EXPECT_THAT(steps.error().reason, HasSubstr("conv1: "));
}

TEST(NetworkPlan, WithoutCudnnTheRulesDecideAndEnginesAreUnknown) {
  const Network network =
      bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::bf16, 2);
  const auto steps = plan_network({nullptr, {9, 0}}, network);
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  EXPECT_EQ(lines_of(*steps).at(1), "conv1 graph conv nhwc -> nhwc, weights nhwc/plain");
  EXPECT_EQ((*steps)[1].step.implementation, kUnknownEngine);
  const Network split =
      bench::ops::op_test::make(one_convolution("hardswish"), Fusion::fused, DataType::f16, 2);
  const auto parts = plan_network({nullptr, {9, 0}}, split);
  ASSERT_TRUE(parts.ok()) << parts.error().reason;
  EXPECT_EQ(parts->back().way, StepWay::transpose);
  EXPECT_EQ(std::ranges::count(*parts, StepWay::parts, &PlannedStep::way), 2);
  const auto older = plan_network({nullptr, {7, 5}}, network);
  ASSERT_FALSE(older.ok());
  EXPECT_EQ(older.error().reason, "conv1: bf16 needs compute capability 8.0, this is 7.5");
}

TEST(NetworkPlan, OfAStepWithoutAGradientIsRefusedAsOnADevice) {
  Network network = bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::f16, 2);
  network.gap = "no operator computes a gradient";
  const auto steps = plan_network({nullptr, {9, 0}}, network);
  ASSERT_FALSE(steps.ok());
  EXPECT_EQ(steps.error().reason, *network.gap);
}

}  // namespace
}  // namespace bench::ops::cuda
