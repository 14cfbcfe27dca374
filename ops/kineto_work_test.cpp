// SPDX-License-Identifier: Apache-2.0
#include "ops/kineto_work.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace bench::ops {
namespace {

struct Call {
  std::string name;
  std::string dims;
  std::string values = "";
  std::string dtype = "f32";
};

Activity operator_at(const Call& call, std::int64_t start, std::int64_t duration) {
  Activity activity;
  activity.kind = ActivityKind::operation;
  activity.name = call.name;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(duration);
  activity.attributes.set(Attribute::problem, call.dims);
  if (!call.values.empty()) activity.attributes.set(Attribute::auxiliary, call.values);
  if (!call.dtype.empty()) activity.attributes.set(Attribute::dtype, call.dtype);
  return activity;
}

std::string format_kineto_work(const std::optional<ActivityWork>& work) {
  if (!work) return "none";
  return work->op + " " + std::to_string(work->flops) + " " +
         (work->bytes ? std::to_string(*work->bytes) : std::string("n/a"));
}

std::string kineto_work(const Call& call) {
  return format_kineto_work(compute_kineto_work(operator_at(call, 0, 10)));
}

constexpr const char* kConvolutionValues = R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"])";
constexpr const char* kConvolutionDims = "[[2, 3, 8, 8], [4, 3, 3, 3], [4], [], [], [], []]";

TEST(KinetoWork, ProductsNeedOnlyShapes) {
  EXPECT_EQ(kineto_work({"aten::mm", "[[8, 16], [16, 4]]"}), "gemm 1024 n/a");
  EXPECT_EQ(kineto_work({"aten::mm", "[[8, 16], [16, 4]]", R"(["", ""])"}), "gemm 1024 896");
  EXPECT_EQ(kineto_work({"aten::mm", "[[8, 16], [16, 4]]", R"(["", ""])", "f16"}), "gemm 1024 448");
  EXPECT_EQ(kineto_work({"aten::bmm", "[[2, 8, 16], [2, 16, 4]]"}), "gemm 2048 n/a");
  EXPECT_EQ(
      kineto_work({"aten::addmm", "[[4], [8, 16], [16, 4], [], []]", R"(["", "", "", "1", "1"])"}),
      "gemm 1056 912");
}

TEST(KinetoWork, AConvolutionNeedsItsArguments) {
  EXPECT_EQ(kineto_work({"aten::conv2d", kConvolutionDims, kConvolutionValues}), "conv 28160 4032");
  EXPECT_EQ(kineto_work({"aten::conv2d", kConvolutionDims}), "none");
  EXPECT_EQ(kineto_work({"aten::conv2d", kConvolutionDims,
                         R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "1"])"}),
            "conv 7040 2496");
}

TEST(KinetoWork, ABackwardConvolutionHasTheWorkOfTheGradientsThatItReturns) {
  const std::string dims =
      "[[2, 4, 8, 8], [2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], [], []]";
  const auto values = [](const std::string& mask) {
    return R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask +
           "\"]";
  };
  EXPECT_EQ(kineto_work({"aten::convolution_backward", dims, values("[False, True, False]")}),
            "conv 27648 n/a");
  EXPECT_EQ(kineto_work({"aten::convolution_backward", dims, values("[True, True, True]")}),
            "conv 55296 n/a");
  EXPECT_EQ(kineto_work({"aten::convolution_backward", dims, values("[False, False, True]")}),
            "none");
  EXPECT_EQ(kineto_work({"aten::convolution_backward", dims}), "none");
}

// aten has weight and bias before the statistics, torch.nn.functional behind them.
TEST(KinetoWork, ABatchNormOfAtenHasItsOwnOrderOfArguments) {
  const std::string values = R"(["", "", "", "", "", "True", "0.1", "1e-05", "True"])";
  EXPECT_EQ(
      kineto_work({"aten::batch_norm", "[[2, 4, 8, 8], [4], [4], [], [], [], [], [], []]", values}),
      "batch_norm 4096 4160");
}

TEST(KinetoWork, OtherFunctionsAndOtherActivitiesHaveNone) {
  EXPECT_EQ(kineto_work({"aten::mm", "[[8, 16], [15, 4]]"}), "none");
  EXPECT_EQ(kineto_work({"aten::mm", "[[[8, 16]], [16, 4]]"}), "none");
  EXPECT_EQ(kineto_work({"mine::mm", "[[8, 16], [16, 4]]"}), "none");
  EXPECT_EQ(kineto_work({"aten::no_such_function", "[[8, 16], [16, 4]]"}), "none");
  Activity range = operator_at({"aten::mm", "[[8, 16], [16, 4]]"}, 0, 1);
  range.kind = ActivityKind::range;
  EXPECT_EQ(format_kineto_work(compute_kineto_work(range)), "none");
}

TEST(KinetoWork, OfAKernelIsThatOfItsOperator) {
  Activity kernel = operator_at({"ampere_sgemm", "[[8, 16], [16, 4]]", R"(["", ""])"}, 0, 1);
  kernel.kind = ActivityKind::kernel;
  kernel.attributes.set(Attribute::op, "aten::mm");
  EXPECT_EQ(format_kineto_work(compute_kineto_work(kernel)), "gemm 1024 896");
}

TEST(KinetoWork, OfAnOperatorWithinAnotherOfKnownWorkCountsOnce) {
  KinetoWorkProvider provider;
  const Call linear{"aten::linear", "[[8, 16], [4, 16], []]", R"(["", "", ""])"};
  const Call product{"aten::mm", "[[8, 16], [16, 4]]", R"(["", ""])"};
  EXPECT_EQ(format_kineto_work(provider(operator_at(linear, 100, 50))), "gemm 1024 896");
  EXPECT_EQ(format_kineto_work(provider(operator_at(product, 110, 20))), "none");
  Activity elsewhere = operator_at(product, 120, 20);
  elsewhere.track.tid = 9;
  EXPECT_EQ(format_kineto_work(provider(elsewhere)), "gemm 1024 896");
  EXPECT_EQ(format_kineto_work(provider(operator_at(product, 150, 20))), "gemm 1024 896");
}

}  // namespace
}  // namespace bench::ops
