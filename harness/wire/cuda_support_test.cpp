// SPDX-License-Identifier: Apache-2.0
#include "harness/wire/cuda_support.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

constexpr const char* kId = "gemm/forward/m4n4k4/f32/cublaslt/cuda/hot";

TEST(CudaSupport, IsReadAsItWasWritten) {
  const CudaSupports supports = {
      {kId, {"yes", "cuDNN", "", {"engine 6: tensor core"}}},
      {"network/forward/n/f16/cudnn/cuda/hot",
       {.runs = "yes",
        .by = "cuDNN",
        .reason = "",
        .basis = "the rules",
        .steps = {{"conv1", "conv", "graph", "cudnn:engine_6", "nhwc -> nhwc", {"parts"}}}}},
      {"x", {"no", "", "no engine for \"x\"", {}}}};
  const auto read = parse_cuda_support(format_cuda_support(supports));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(*read, supports);
}

TEST(CudaSupport, RefusesOtherDocuments) {
  for (const char* text :
       {"", "{}", "[]", R"({"schema":"bench.cuda_support/2","cases":{}})",
        R"({"schema":"bench.cuda_support/1"})",
        R"({"schema":"bench.cuda_support/1","cases":{"a":{"runs":"yes"}}})",
        R"({"schema":"bench.cuda_support/1","cases":{"a":{"runs":1,"by":"","reason":""}}})"}) {
    EXPECT_FALSE(parse_cuda_support(text).ok()) << text;
  }
}

}  // namespace
}  // namespace bench
