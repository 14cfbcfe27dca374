// SPDX-License-Identifier: Apache-2.0
#include "harness/report/layer_table.hpp"

#include "harness/result/typed_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNet = "network/forward/net/f32/onednn/cpu/hot";

Activity executed(const std::string& id, const std::string& scope, Nanoseconds duration,
                  std::int64_t flops, std::int64_t iteration = 5) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.case_id = id;
  activity.scope = scope;
  activity.duration = duration;
  activity.attributes.set(Attribute::phase, "exec");
  activity.attributes.set(Attribute::primitive, "convolution");
  activity.attributes.set(Attribute::iteration, iteration);
  activity.attributes.set(Attribute::flops, flops);
  activity.attributes.set(Attribute::implementation, "brgconv:avx512_core");
  return activity;
}

// A recorded iteration as a whole.
Activity recorded(const std::string& id, Nanoseconds duration, std::int64_t iteration = 5) {
  Activity activity;
  activity.kind = ActivityKind::range;
  activity.name = "iteration";
  activity.case_id = id;
  activity.duration = duration;
  activity.attributes.set(Attribute::iteration, iteration);
  return activity;
}

Activity with_implementation(Activity activity, std::string_view name) {
  activity.attributes.set(Attribute::implementation, name);
  return activity;
}

ProfilePassRecord pass(const std::string& id, Nanoseconds wall) {
  ProfilePassRecord record;
  record.id = id;
  record.iterations = 2;
  record.wall = wall;
  record.profiled = 1030us;
  record.unprofiled = 1000us;
  return record;
}

void take_all(LayerTimes& times, const std::vector<Activity>& activities) {
  for (const Activity& activity : activities) ASSERT_TRUE(times.consume(activity).ok());
}

TEST(LayerTable, GivesOneIterationOfEachLayerTheLongestFirst) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 100us, 100'000, 5), recorded(kNet, 1100us, 5),
                   executed(kNet, "net:fc", 100us, 100'000, 6), recorded(kNet, 900us, 6),
                   executed(kNet, "net:conv1", 900us, 180'000'000, 5),
                   executed(kNet, "net:conv1", 700us, 180'000'000, 6)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_EQ(layer_table(report, times, {.width = 80}),
            "Profiling changed the time of an iteration by +3.0 %: 1.030 ms with the\n"
            "profiler, 1.000 ms without, in the same process. The table shows medians of the\n"
            "2 recorded iterations of network/forward/net/f32/onednn/cpu/hot: 1.000 ms,\n"
            "90.0 % of it in the kernels below.\n\n"
            "layer      ms  share %  GFLOP/s  implementation\n"
            "conv1  0.8000     80.0    225.0  brgconv:avx512_core\n"
            "fc     0.1000     10.0    1.000  brgconv:avx512_core\n");
}

// It was the mean of five iterations, so one preemption made a layer of 13 us the hottest one.
TEST(LayerTable, OneDisturbedIterationDoesNotMakeALayerHot) {
  LayerTimes times;
  for (std::int64_t i = 5; i < 10; ++i) {
    take_all(times, {executed(kNet, "net:fc", i == 7 ? Nanoseconds(3600us) : 13us, 26'000, i),
                     executed(kNet, "net:conv1", 80us, 160'000, i),
                     recorded(kNet, i == 7 ? 3700us : 100us, i)});
  }
  Report report;
  report.profile_passes = {pass(kNet, 4100us)};
  report.profile_passes.front().iterations = 5;
  const std::vector<LayerRow> rows = layer_rows(report, times);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "net:conv1");
  EXPECT_EQ(rows[1].time, 13us);
  EXPECT_DOUBLE_EQ(*rows[1].share, 0.13);
  EXPECT_THAT(layer_table(report, times, {.width = 1000}),
              testing::ContainsRegex("5 recorded iterations of .*: 100.0 us, 93.0 % of it"));
}

// The table added hot and cold, layers and whole network to one share.
TEST(LayerTable, SharesAreThoseOfAnIterationOfTheSameCase) {
  const std::string cold = "network/forward/net/f32/onednn/cpu/cold";
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 50us, 1), recorded(kNet, 100us),
                   executed(cold, "net:fc", 300us, 1), recorded(cold, 400us)});
  Report report;
  report.profile_passes = {pass(kNet, 100us), pass(cold, 400us)};
  for (const std::vector<LayerRow>& rows :
       {layer_rows(report, times), operator_rows(report, times)}) {
    std::map<std::string, double> sums;
    for (const LayerRow& row : rows) {
      if (row.name != kOutsidePrimitives) sums[row.case_id] += *row.share;
    }
    EXPECT_THAT(sums, testing::ElementsAre(testing::Pair(cold, 0.75), testing::Pair(kNet, 0.5)));
  }
}

TEST(LayerTable, OperatorsAndTheRestAddUpToAnIteration) {
  LayerTimes times;
  Activity reorder = executed(kNet, "net:fc", 5us, 0);
  reorder.attributes.set(Attribute::primitive, "reorder");
  take_all(times, {executed(kNet, "net:fc", 30us, 1), executed(kNet, "net:conv", 50us, 1), reorder,
                   recorded(kNet, 100us)});
  Report report;
  report.profile_passes = {pass(kNet, 100us)};
  std::vector<std::pair<std::string, Nanoseconds>> rows;
  for (const LayerRow& row : operator_rows(report, times)) rows.emplace_back(row.name, row.time);
  EXPECT_THAT(rows, testing::ElementsAre(testing::Pair("convolution", 80us),
                                         testing::Pair(kOutsidePrimitives, 15us),
                                         testing::Pair("reorder", 5us)));
}

// It counted activities: `jit:uni +5` for a reorder and a convolution in five iterations.
TEST(LayerTable, ImplementationsCountOnceAndTheOneWithMostTimeIsNamed) {
  LayerTimes times;
  for (std::int64_t i = 5; i < 10; ++i) {
    take_all(times, {with_implementation(executed(kNet, "net:conv1", 2us, 0, i), "jit:uni"),
                     with_implementation(executed(kNet, "net:conv1", 90us, 1, i), "brgconv:avx2")});
  }
  EXPECT_EQ(times.layers().begin()->second.implementation(), "brgconv:avx2 +1");
}

// The first run before the recorded iterations counted as one of them.
TEST(LayerTable, WorkOutsideOfIterationsDoesNotCount) {
  LayerTimes times;
  Activity first = executed(kNet, "net:fc", 900us, 1);
  first.attributes.clear();
  take_all(times, {first, executed(kNet, "net:fc", 10us, 1)});
  EXPECT_EQ(times.layers().begin()->second.time(), 10us);
}

// It said "by -0.0 %".
TEST(LayerTable, AChangeThatRoundsToZeroHasNoMinus) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 100us, 100'000)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  report.profile_passes.front().unprofiled = *report.profile_passes.front().profiled + 100ns;
  EXPECT_THAT(layer_table(report, times, {.width = 80}),
              HasSubstr("the time of an iteration by +0.0 %:"));
}

// It gave the time of the recorded iterations beside the change of others, without saying so.
TEST(LayerTable, TheChangeByProfilingNamesTheTwoTimesThatItCompares) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 93ms, 100'000), recorded(kNet, 93'660us)});
  Report report;
  report.profile_passes = {pass(kNet, 468'300us)};
  report.profile_passes.front().iterations = 5;
  report.profile_passes.front().profiled = 88'600us;
  report.profile_passes.front().unprofiled = 90'100us;
  EXPECT_THAT(layer_table(report, times, {.width = 1000}),
              HasSubstr("an iteration by -1.7 %: 88.60 ms with the profiler, 90.10 ms without, in "
                        "the same process. The table shows medians of the 5 recorded iterations of "
                        "network/forward/net/f32/onednn/cpu/hot: 93.66 ms, 99.3 % of it"));
}

TEST(LayerTable, WithoutTimesOfTheProfilerOnlyTheRecordedIterationsAreDescribed) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 1ms, 100'000), recorded(kNet, 1ms)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  report.profile_passes.front().unprofiled = std::nullopt;
  EXPECT_THAT(layer_table(report, times, {.width = 1000}),
              testing::StartsWith("The table shows medians of the 2 recorded iterations of "));
}

TEST(LayerTable, CreationsAndOtherCasesDoNotCount) {
  LayerTimes times;
  Activity creation = executed(kNet, "net:fc", 500us, 1);
  creation.attributes.set(Attribute::phase, "create");
  Activity api = executed(kNet, "net:fc", 500us, 1);
  api.kind = ActivityKind::api;
  take_all(times, {creation, api, executed("", "somewhere", 500us, 1)});
  EXPECT_TRUE(times.layers().empty());
  EXPECT_EQ(layer_table({}, times, {}), "");
}

TEST(LayerTable, KernelsOfADeviceReplaceTheirLaunches) {
  LayerTimes times;
  Activity kernel = executed(kNet, "net:fc", 40us, 0);
  kernel.kind = ActivityKind::kernel;
  take_all(times, {executed(kNet, "net:fc", 100us, 1000), kernel});
  EXPECT_EQ(times.layers().begin()->second.time(), 40us);
}

TEST(LayerTable, APeakNeedsACeilingOfTheCase) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 2ms, 1'000'000), recorded(kNet, 2ms)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_THAT(layer_table(report, times, {}), Not(HasSubstr("% peak")));
  report.cases.resize(1);
  report.cases[0].id = kNet;
  report.cases[0].roofline.emplace().peak_flops_per_s = FlopsPerSecond{1e9};
  // 1 MFLOP in 2 ms is half of 1 GFLOP/s.
  EXPECT_THAT(layer_table(report, times, {}),
              testing::ContainsRegex("fc +2.0000 +100.0 +0.5000 +50 "));
}

TEST(LayerTable, EqualLayersOfTwoCasesNameTheirCases) {
  LayerTimes times;
  const std::string other = "network/forward/net/bf16/onednn/cpu/hot";
  take_all(times, {executed(kNet, "net:fc", 100us, 1), executed(other, "net:fc", 50us, 1)});
  Report report;
  report.profile_passes = {pass(kNet, 400us), pass(other, 400us)};
  const std::string table = layer_table(report, times, {.width = 200});
  EXPECT_THAT(table, HasSubstr("the time of 2 iterations, one of each case, by +3.0 %: 2.060 ms"));
  EXPECT_THAT(table, HasSubstr("their shares of an iteration of the same case.\n"));
  EXPECT_THAT(table,
              testing::ContainsRegex("fc +0.1000 .* network/forward/net/f32/onednn/cpu/hot\n"));
  EXPECT_THAT(table,
              testing::ContainsRegex("fc +0.0500 .* network/forward/net/bf16/onednn/cpu/hot\n"));
}

TEST(LayerTable, RowsAreLimited) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:a", 200us, 1), executed(kNet, "net:b", 100us, 1)});
  Report report;
  report.profile_passes = {pass(kNet, 400us)};
  EXPECT_THAT(layer_table(report, times, {.top_layers = 1}), testing::EndsWith("and 1 more\n"));
}

// On a GPU, only the operator that launched the kernels carries the name of the implementation.
TEST(LayerTable, KernelsHaveTheImplementationOfTheOperatorThatLaunchedThem) {
  const auto activity = [](ActivityKind kind, const char* name, Nanoseconds duration) {
    Activity result;
    result.kind = kind;
    result.name = name;
    result.case_id = kNet;
    result.scope = "net:conv1";
    result.duration = duration;
    result.attributes.set(Attribute::op, "conv");
    result.attributes.set(Attribute::iteration, std::int64_t{5});
    return result;
  };
  Activity reorder =
      with_implementation(activity(ActivityKind::operation, "conv1", 3ms), "bench:reorder_tiled");
  reorder.attributes.set(Attribute::primitive, "reorder");
  Activity convolution =
      with_implementation(activity(ActivityKind::operation, "conv1", 90us), "cudnn:engine_7");
  convolution.attributes.set(Attribute::primitive, "conv");
  LayerTimes times;
  take_all(times, {reorder, activity(ActivityKind::kernel, "transpose_kernel", 150us), convolution,
                   activity(ActivityKind::kernel, "fort_native", 400us), recorded(kNet, 600us)});
  const auto found = times.layers().find({kNet, "net:conv1"});
  ASSERT_NE(found, times.layers().end());
  EXPECT_EQ(found->second.implementation(), "cudnn:engine_7");
  EXPECT_EQ(found->second.time(), 550us);
}

TEST(LayerTable, AnOperatorWithoutExecutedWorkIsNoRow) {
  Activity operation = recorded(kNet, 90us);
  operation.kind = ActivityKind::operation;
  operation.scope = "net:conv1";
  LayerTimes times;
  take_all(times, {operation});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_EQ(layer_table(report, times, {.width = 80}), "");
}

// On an H100, waiting after each of 285 kernels made an iteration 72.6 % longer.
TEST(LayerTable, OnAGpuTheCostIsExplained) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 100us, 100'000, 5), recorded(kNet, 1100us, 5)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_THAT(layer_table(report, times, {.width = 200}),
              testing::Not(testing::HasSubstr("waited for each step")));
  report.profile_passes.front().details["gpu.kernels"] = "285";
  EXPECT_THAT(layer_table(report, times, {.width = 400}),
              testing::HasSubstr("in the same process. The profiler waited for each step, so the "
                                 "GPU was idle between steps. The table shows"));
  report.profile_passes.front().details[kUnawaitedStepsDetail] = "the host waited only for the end";
  EXPECT_THAT(layer_table(report, times, {.width = 400}),
              testing::Not(testing::HasSubstr("waited for each step")));
}

}  // namespace
}  // namespace bench
