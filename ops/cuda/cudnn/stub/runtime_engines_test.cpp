// SPDX-License-Identifier: Apache-2.0
// Engines that cuDNN compiles at run time. Its heuristics offer them only if a driver is loaded;
// the toolkit's stub is sufficient. This is a separate program, because a stub stays loaded.
#include "ops/cuda/cudnn/planning.hpp"
#include "ops/cuda/cudnn/serving.hpp"
#include "ops/cuda/cudnn/stub/some_driver.hpp"
#include "ops/cuda/cudnn/support_cases.hpp"
#include "ops/cuda/cudnn/support_oracle.hpp"
#include "ops/cuda/cudnn/test_support.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace bench::ops::cuda {
namespace {

using cudnn_test::device_json;
using ::testing::HasSubstr;

struct Asked {
  const char* op;
  const char* tokens;
  DataType dtype = DataType::f16;
  Layout layout = Layout::any;
  Direction direction = Direction::forward;
};

Result<std::vector<PlannedEngine>, BackendError> plan(const std::shared_ptr<const CudnnApi>& api,
                                                      const Asked& asked,
                                                      const std::string& architecture) {
  Problem problem =
      bench::ops::op_test::problem(asked.op, asked.tokens, asked.dtype, asked.direction);
  problem.layout = asked.layout;
  return planned_engines(api, problem, device_json(architecture), {1, 0});
}

constexpr Direction kBackward = Direction::backward_data;

const Asked kServed[] = {
    {"conv", "n32c64h28k64r3p1+bias+relu"},
    {"conv", "n32c64h28k64r3p1+bias+add+relu"},
    {"conv", "n32c64h28k64r3p1+gelu_tanh", DataType::bf16},
    {"conv", "n32c64h28k64r3p1+clip"},
    {"conv", "n32c64h28k64r3p1+bias+relu", DataType::s8},
    {"conv", "n32c64h28k64r3p1", DataType::f8_e4m3},
    {"pool", "max-n32c64h56r3u2p1"},
    {"pool", "max-n32c64h56r3u2p1", DataType::f32},
    {"pool", "max-n32c64w56r3u2p1"},
    {"pool", "avg_include_pad-n32c64h7+global"},
    {"pool", "avg_exclude_pad-n32c64h56r3u2p1", DataType::f32, Layout::nchw},
    {"pool", "max-n32c64h56r3u2p1", DataType::f16, Layout::nhwc, kBackward},
    {"pool", "avg_include_pad-n32c64h56r3u2p1", DataType::f16, Layout::nhwc, kBackward},
    {"pointwise", "relu-32x64x28x28"},
    {"pointwise", "relu-32x64x28x28", DataType::f32, Layout::nchw},
    {"pointwise", "relu-32x64x28x28", DataType::s8},
    {"pointwise", "gelu_erf-64x128", DataType::f32},
    {"pointwise", "square-7", DataType::f32},
    {"pointwise", "swish-32x64x28x28", DataType::bf16, Layout::any, kBackward},
    {"pointwise", "add-32x64x28x28-32x64x28x28"},
    {"pointwise", "add-32x64x28x28-64x1x1", DataType::f32},
    {"batch_norm", "n32c64h56"},
    {"batch_norm", "n32c64h56", DataType::f32},
};

TEST(RuntimeEngines, ServeWhatIsFusedAndWhatMultipliesNothing) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const Asked& asked : kServed) {
    const auto engines = plan(api, asked, "sm_90");
    EXPECT_TRUE(engines.ok()) << fmt::format("{} {} {}: {}", asked.op, asked.tokens,
                                             info(asked.dtype).name,
                                             engines.ok() ? "" : engines.error().reason);
  }
}

struct Refused {
  Asked asked;
  const char* architecture;
  const char* reason;
};
const Refused kRefused[] = {
    {{"conv", "n32c64h28k64r3p1", DataType::f8_e4m3}, "sm_80", "has no engine"},
    {{"conv", "n32c64h28k64r3p1", DataType::bf16}, "sm_75", "has no engine"},
    {{"pointwise", "hardswish-64x128"}, "sm_90", "no pointwise function `hardswish`"},
    {{"pointwise", "exp-64x128", DataType::f16, Layout::any, kBackward},
     "sm_90",
     "no gradient of `exp`"},
    {{"pointwise", "relu-32x64x28x28", DataType::f64}, "sm_90", "has no engine"},
    {{"batch_norm", "n32c64h56", DataType::f32, Layout::nchw}, "sm_90", "has no engine"},
    {{"softmax", "64x1000"}, "sm_90", "cuDNN has no kernel for softmax"},
    {{"reorder", "32x64x28x28-nchw-blocked16"}, "sm_90", "does not support the layout"},
};

TEST(RuntimeEngines, RefuseTheRestWithTheReason) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const Refused& row : kRefused) {
    const auto engines = plan(api, row.asked, row.architecture);
    ASSERT_FALSE(engines.ok()) << row.asked.op << " " << row.asked.tokens;
    EXPECT_EQ(engines.error().kind, BackendError::Kind::unsupported);
    EXPECT_THAT(engines.error().reason, HasSubstr(row.reason))
        << row.asked.op << " " << row.asked.tokens;
    // A driver is loaded, so the advice to load one would be false.
    EXPECT_THAT(engines.error().reason, ::testing::Not(HasSubstr("need a driver")));
  }
}

// The gradient of max pooling needs the positions of the maxima. A forward pass writes them, which
// has its own graph but is not a problem.
TEST(RuntimeEngines, WriteWhereTheMaximaAre) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
    for (const DataType dtype : {DataType::f32, DataType::f16, DataType::bf16}) {
      if (dtype == DataType::bf16 && std::string_view(architecture) == "sm_75") continue;
      Problem problem =
          bench::ops::op_test::problem("pool", "max-n32c64h56r3u2p1", dtype, kBackward);
      problem.layout = Layout::nhwc;
      const auto graph = maxima_graph(api, problem);
      ASSERT_TRUE(graph.ok()) << graph.error().reason;
      const auto engines = planned_engines(api, *graph, problem, device_json(architecture), {1, 0});
      EXPECT_TRUE(engines.ok()) << architecture << " " << info(dtype).name << ": "
                                << (engines.ok() ? "" : engines.error().reason);
    }
  }
}

// Every combination has an engine or a reason, and cuDNN does not crash.
TEST(RuntimeEngines, LeaveNoCombinationWithoutAnAnswer) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  const char* const problems[][2] = {{"conv", "n2g2c16d5h9k16t3r3p1u2"},
                                     {"conv", "n2c16h9k16r3p1_0e2"},
                                     {"conv", "n2c16w9k16s3u2+transposed"},
                                     {"pool", "max-n2c16h9r3u2p1"},
                                     {"pool", "avg_exclude_pad-n2c16w9r3u2p1"},
                                     {"pointwise", "clip-2x16x9"},
                                     {"pointwise", "div-2x16x9-16x1"},
                                     {"batch_norm", "n2c16w9"},
                                     {"softmax", "2x16"},
                                     {"reorder", "2x16x9x9-nchw-nhwc"},
                                     {"gemm", "m4n4k4"}};
  int answered = 0, served = 0;
  for (const auto& [op, tokens] : problems) {
    for (const DataTypeInfo& type : data_types()) {
      for (const Direction direction :
           {Direction::forward, Direction::backward_data, Direction::backward_weights}) {
        const auto made = bench::ops::op_test::try_problem(op, tokens, type.type, direction);
        if (!type.is_case_type || !made) continue;  // not a valid problem on any backend
        const auto engines = planned_engines(api, *made, json, {1, 0});
        EXPECT_TRUE(engines.ok() || !engines.error().reason.empty()) << op << " " << tokens;
        ++answered;
        served += engines.ok() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(answered, 100);
  EXPECT_GT(served, 30);
}

// Whether cuDNN has an engine for a problem's graph.
bool is_served(const std::shared_ptr<const CudnnApi>& api, const Problem& problem,
               const std::string& json) {
  return planned_engines(api, problem, json, {1, 0}).ok();
}

// What check_support() reports without a device is true for a device that cuDNN knows from JSON.
TEST(RuntimeEngines, ServeWhatSupportPromises) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const std::string json = device_json("sm_90");
  const SupportQuestion asked{api, "", {9, 0}};
  int promised = 0;
  cudnn_test::for_each_support_case([&](const Problem& each, const std::string& what) {
    if (each.layout == Layout::any) return;  // equals one of the two others
    if (cudnn_test::is_hidden_by_description(each, "sm_90")) return;
    const Support support = check_support(each, asked);
    if (support.by == "cuDNN") {
      const ConvSplit split = conv_split(each);
      bool served = is_served(api, each, json);
      for (const DataType between : intermediate_types(each)) {
        served =
            served || (split != ConvSplit::none && is_served(api, conv_part(each, between), json));
      }
      EXPECT_TRUE(served) << what;
      ++promised;
    }
    if (support.by.starts_with("cuDNN +")) {
      bool served = false;
      for (const DataType between : intermediate_types(each)) {
        served = served || is_served(api, conv_part(each, between), json);
      }
      EXPECT_TRUE(served) << what;
      ++promised;
    }
  });
  EXPECT_GT(promised, 300);
}

TEST(RuntimeEngines, SayThatTheyAreCompiledLater) {
  BENCH_NEED_A_DRIVER();
  BENCH_NEED_CUDNN(api);
  const auto engines = plan(api, {"conv", "n32c64h28k64r3p1", DataType::f8_e4m3}, "sm_90");
  ASSERT_TRUE(engines.ok());
  EXPECT_TRUE(engines->front().is_runtime_compiled);
  EXPECT_TRUE(engines->front().has(EngineNote::tensor_core));
}

}  // namespace
}  // namespace bench::ops::cuda
