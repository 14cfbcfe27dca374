// SPDX-License-Identifier: Apache-2.0
// Every operator, direction, data type, layout and kind of padding runs on a GPU or has a reason.
#include "ops/cuda/cudnn/support_oracle.hpp"

#include "ops/cuda/cudnn/support_cases.hpp"
#include "ops/cuda/cudnn/test_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace bench::ops::cuda {
namespace {

using bench::ops::op_test::problem;
using ::testing::HasSubstr;

TEST(Support, EveryCombinationHasAnAnswer) {
  BENCH_NEED_CUDNN(api);
  const SupportQuestion question{api, "", {9, 0}};
  std::map<std::string, std::set<std::string>> computed_by;  // for each operator
  int cases = 0;
  cudnn_test::for_each_support_case([&](const Problem& support_case, const std::string& what) {
    const Support support = check_support(support_case, question);
    ++cases;
    EXPECT_NE(support.runs, Runnable::unknown) << what;
    if (support.runs == Runnable::yes) {
      EXPECT_FALSE(support.by.empty()) << what;
      computed_by[std::string(support_case.op->name)].insert(support.by);
    } else {
      EXPECT_FALSE(support.reason.empty()) << what;
      EXPECT_TRUE(support.by.empty()) << what;
    }
  });
  EXPECT_GT(cases, 1000);
  // docs/cuda.md says why these have no kernel on a GPU.
  const std::set<std::string_view> only_on_cpu = {"prelu", "lrn",  "resample", "shuffle",
                                                  "rnn",   "lstm", "gru"};
  for (const Operator* op : all_operators()) {
    EXPECT_EQ(computed_by[std::string(op->name)].empty(), only_on_cpu.contains(op->name))
        << op->name;
  }
  EXPECT_TRUE(computed_by["conv"].contains("cuDNN"));
  EXPECT_TRUE(computed_by["conv"].contains("cuDNN + bench:elementwise"));
  EXPECT_TRUE(computed_by["conv"].contains("cuDNN + bench:channel_sum_block"));
  EXPECT_TRUE(computed_by["pointwise"].contains("bench:elementwise"));
  EXPECT_EQ(computed_by["softmax"], std::set<std::string>{"bench:softmax_block"});
  EXPECT_TRUE(computed_by["reorder"].contains("bench:reorder_pixels"));
  EXPECT_TRUE(computed_by["gemm"].contains("cuBLASLt"));
  EXPECT_EQ(computed_by["peak"], (std::set<std::string>{"bench:peak_fma", "bench:peak_triad"}));
}

// Earlier, the reason was that cuDNN has no graph, which does not help the user.
TEST(Support, OperatorWithoutGraphsGetsTheReasonOfTheNativeKernel) {
  BENCH_NEED_CUDNN(api);
  const Support support = check_support(problem("peak", "fma_avx2"), {api, "", {9, 0}});
  EXPECT_EQ(support.runs, Runnable::no);
  EXPECT_THAT(support.reason, HasSubstr("is a loop of CPUs"));
}

TEST(Support, WithoutCudnnSaysSo) {
  const SupportQuestion question{nullptr, "no file of that name", {0, 0}};
  const Support conv = check_support(problem("conv", "n2c4h5k6r3"), question);
  EXPECT_EQ(conv.runs, Runnable::unknown);
  EXPECT_THAT(conv.reason, HasSubstr("no file of that name"));
  EXPECT_EQ(check_support(problem("softmax", "4x8"), question).runs, Runnable::yes);
  EXPECT_EQ(check_support(problem("gemm", "m4n4k4"), question).runs, Runnable::yes);
}

TEST(Support, DependsOnTheDevice) {
  BENCH_NEED_CUDNN(api);
  const Problem f8 = problem("conv", "n2c16h5k16r3", DataType::f8_e4m3);
  EXPECT_EQ(check_support(f8, {api, "", {9, 0}}).runs, Runnable::yes);
  const Support older = check_support(f8, {api, "", {8, 0}});
  EXPECT_EQ(older.runs, Runnable::no);
  EXPECT_THAT(older.reason, HasSubstr("compute capability 8.9"));
  const Problem bf16 = problem("conv", "n2c16h5k16r3", DataType::bf16);
  EXPECT_EQ(check_support(bf16, {api, "", {7, 5}}).runs, Runnable::no);
}

// configs/gpu_operators.yaml has four gradients of s8. An H100 ran one of them.
TEST(Support, GradientsOfS8AreThoseThatAnH100Ran) {
  BENCH_NEED_CUDNN(api);
  const auto runs = [&](Direction direction, Layout layout, ComputeCapability capability) {
    Problem gradient = problem("conv", "n4c64h28w28k64r3s3p1", DataType::s8, direction);
    gradient.layout = layout;
    return check_support(gradient, {api, "", capability}).runs;
  };
  constexpr ComputeCapability kAda = {8, 9}, kHopper = {9, 0};
  EXPECT_EQ(runs(Direction::backward_data, Layout::nhwc, kHopper), Runnable::yes);
  EXPECT_EQ(runs(Direction::backward_data, Layout::nchw, kHopper), Runnable::no);
  EXPECT_EQ(runs(Direction::backward_weights, Layout::nhwc, kHopper), Runnable::no);
  EXPECT_EQ(runs(Direction::backward_weights, Layout::nchw, kHopper), Runnable::no);
  EXPECT_EQ(runs(Direction::backward_data, Layout::nhwc, kAda), Runnable::no);
}

// On a machine with a device, its properties can be used for planning. Elsewhere the error states a
// reason.
TEST(DeviceProperties, AreReadOrRefused) {
  BENCH_NEED_CUDNN(api);
  const auto json = read_device_json(api, 0);
  if (json) {
    const auto engines =
        planned_engines(api, cudnn_test::conv_problem({"n32c64h28k64r3p1"}), *json, {1, 1});
    EXPECT_TRUE(engines.ok()) << engines.error().reason << *json;
  } else {
    EXPECT_THAT(json.error().what, ::testing::HasSubstr("the device's properties"));
  }
}

}  // namespace
}  // namespace bench::ops::cuda
