// SPDX-License-Identifier: Apache-2.0
// The engines of convolutions with bias and post-ops. cuDNN has precompiled engines only for graphs
// in the form of cudnnConvolutionBiasActivationForward. An engine for another graph is compiled at
// run time, which takes half a second.
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/test_support.hpp"

#include <gtest/gtest.h>

#include <string>

namespace bench::ops::cuda {
namespace {

// The layers of ResNet-50 that run different kernels.
constexpr const char* kLayers[] = {
    "n32c3h224k64r7u2p3+bias+relu",   "n32c64h56k64r1+bias+relu",
    "n32c64h56k64r3p1+bias+relu",     "n32c64h56k256r1+bias",
    "n32c64h56k256r1+bias+add+relu",  "n32c256h56k128r1+bias+relu",
    "n32c128h56k128r3u2p1+bias+relu", "n32c256h56k512r1u2+bias",
    "n32c128h28k512r1+bias+add+relu", "n32c512h7k512r3p1+bias+relu",
    "n32c512h7k2048r1+bias+add+relu",
};

TEST(FusedEngines, OfAResNetAreCompiledAlready) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const DataType dtype : {DataType::f16, DataType::bf16}) {
    for (const char* layer : kLayers) {
      const Problem problem = cudnn_test::conv_problem({layer, dtype});
      const auto engines = planned_engines(api, problem, cudnn_test::device_json("sm_90"), {1, 0});
      ASSERT_TRUE(engines.ok()) << layer << ": " << engines.error().reason;
      EXPECT_FALSE(engines->front().is_runtime_compiled)
          << layer << " " << info(dtype).name << ": " << engines->front().text();
    }
  }
}

}  // namespace
}  // namespace bench::ops::cuda
