// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/explain_sections.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench {
namespace {

CudaSupport make_plan() {
  CudaSupport support{.runs = "yes", .by = "cuDNN", .reason = "", .basis = "cuDNN 9.19.0 answered"};
  support.steps = {
      {"conv1", "reorder", "transpose", "bench:reorder_pixels", "nchw -> nhwc", {}},
      {"conv1",
       "conv",
       "graph",
       "cudnn:engine_63",
       "nhwc -> nhwc, weights nhwc/plain",
       {"parts", "padded"}},
      {"maxpool", "pool", "graph", "cudnn:n/a", "nhwc -> nhwc", {"native"}},
      {"layer1.0.downsample", "conv", "parts", "cudnn:engine_0", "nhwc -> nhwc, weights nhwc", {}},
      {"layer1.0.downsample", "epilogue", "parts", "bench:elementwise", "nhwc -> nhwc", {}},
      {"fc", "gemm", "product", "cublaslt", "plain -> plain, weights plain", {}}};
  return support;
}

TEST(NetworkPlanSection, AnswersInASentenceThenInATableThenNamesTheNextCommand) {
  EXPECT_EQ(format_network_plan(make_plan(), "NVIDIA H100", "bench run ID", 80),
            "On NVIDIA H100 the network runs in 6 steps: 5 kernels (2 graphs of cuDNN, 1\n"
            "product of cuBLASLt, 2 parts of split layers) and 1 transpose. 2 layers can run\n"
            "in another way, too: the GPU measures which one is the fastest and begins with\n"
            "the first one of the table.\n"
            "(cuDNN 9.19.0 answered)\n"
            "\n"
            "  layer                runs as             kernel                layouts\n"
            "  conv1                transpose           bench:reorder_pixels  nchw -> nhwc\n"
            "  conv1                graph/parts/padded  cudnn:engine_63       nhwc -> nhwc\n"
            "  maxpool              graph or native     cudnn:n/a             nhwc -> nhwc\n"
            "  layer1.0.downsample  parts               cudnn:engine_0        nhwc -> nhwc\n"
            "  layer1.0.downsample  parts               bench:elementwise     nhwc -> nhwc\n"
            "  fc                   product             cublaslt              plain -> plain\n"
            "\n"
            "Next: measure the network on that GPU:\n"
            "  bench run ID\n"
            "\n");
}

TEST(NetworkPlanSection, OfANetworkThatDoesNotRunHasTheReason) {
  const CudaSupport refused{
      .runs = "no", .by = "", .reason = "conv1: bf16 needs compute capability 8.0, this is 7.5"};
  EXPECT_EQ(format_network_plan(refused, "Tesla T4", "bench run ID", 80),
            "On Tesla T4 the network does not run: conv1: bf16 needs compute capability 8.0,\n"
            "this is 7.5.\n\n");
  const CudaSupport unknown{
      .runs = "unknown", .by = "", .reason = "this plugin was built without cuDNN"};
  EXPECT_EQ(format_network_plan(unknown, "Tesla T4", "bench run ID", 80),
            "On Tesla T4 it is not known whether the network runs: this plugin was built\n"
            "without cuDNN.\n\n");
}

}  // namespace
}  // namespace bench
