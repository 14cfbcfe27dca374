// SPDX-License-Identifier: Apache-2.0
// Plans the beginning and the end of ResNet-50 for devices that this machine does not have.
#include "ops/cuda/cudnn/network_plan.hpp"

#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/test_support.hpp"
#include "ops/network/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// "NODE KIND LAYOUTS", without the engines' numbers, which change with cuDNN's version.
std::vector<std::string> lines_of(const std::vector<KernelStep>& steps) {
  std::vector<std::string> lines;
  for (const KernelStep& step : steps) {
    lines.push_back(step.node + " " + step.kind + " " + step.layouts);
  }
  return lines;
}

TEST(NetworkPlan, OfAResNetMovesOnlyItsInput) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const Network network =
      bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::f16, 32);
  const auto steps = plan_network(api, network, device_json("sm_90"));
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  EXPECT_THAT(
      lines_of(*steps),
      ElementsAre("conv1 reorder nchw -> nhwc", "conv1 conv nhwc -> nhwc, weights nhwc/plain",
                  "maxpool pool nhwc -> nhwc", "short conv nhwc -> nhwc, weights nhwc/plain",
                  "reduce conv nhwc -> nhwc, weights nhwc/plain",
                  "expand conv nhwc -> nhwc, weights nhwc/plain", "avgpool pool nhwc -> nhwc",
                  "fc gemm plain -> plain, weights plain"));
  EXPECT_EQ(steps->front().implementation, "bench:reorder_pixels");
  EXPECT_THAT((*steps)[1].implementation, ::testing::StartsWith("cudnn:engine_"));
  const std::string text = format_plan(*steps);
  EXPECT_THAT(text, HasSubstr("conv1    reorder  bench:reorder_pixels  nchw -> nhwc\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::ssize(*steps));
}

// cuDNN has no pointwise function `hardswish`, so a native kernel follows the convolution.
TEST(NetworkPlan, SplitsWhatIsNotFused) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const NetworkDefinition definition{.name = "two",
                                     .input = {4, 8, 8},
                                     .layers = {layer("conv", "conv", "k8r3s3p1+bias", {"input"}),
                                                layer("relu", "pointwise", "hardswish", {"conv"})}};
  const Network network = bench::ops::op_test::make(definition, Fusion::fused, DataType::f32, 2);
  const auto steps = plan_network(api, network, device_json("sm_90"));
  ASSERT_TRUE(steps.ok()) << steps.error().reason;
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ((*steps)[1].implementation, "bench:elementwise");
  EXPECT_EQ((*steps)[1].node, "conv");
}

TEST(NetworkPlan, NamesTheLayerWithoutAKernel) {
  BENCH_NEED_CUDNN(api);
  const Network network =
      bench::ops::op_test::make(small_resnet(), Fusion::fused, DataType::bf16, 2);
  const auto steps = plan_network(api, network, device_json("sm_75"));
  ASSERT_FALSE(steps.ok());
  EXPECT_THAT(steps.error().reason, HasSubstr("conv1: "));
}

}  // namespace
}  // namespace bench::ops::cuda
