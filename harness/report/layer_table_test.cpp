// SPDX-License-Identifier: Apache-2.0
#include "harness/report/layer_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNet = "network/forward/net/f32/onednn/cpu/hot";

Activity executed(const std::string& id, const std::string& scope, Nanoseconds duration,
                  std::int64_t flops) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.case_id = id;
  activity.scope = scope;
  activity.duration = duration;
  activity.attributes.set(Attribute::phase, "exec");
  activity.attributes.set(Attribute::flops, flops);
  activity.attributes.set(Attribute::implementation, "brgconv:avx512_core");
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
  take_all(times,
           {executed(kNet, "net:fc", 100us, 100'000), executed(kNet, "net:fc", 100us, 100'000),
            executed(kNet, "net:conv1", 900us, 180'000'000),
            executed(kNet, "net:conv1", 700us, 180'000'000)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_EQ(layer_table(report, times, {.width = 80}),
            "One profiled iteration of network/forward/net/f32/onednn/cpu/hot takes 1.030 ms.\n"
            "Profiling changed the time by +3.0 %: 1.030 ms with the profiler, 1.000 ms\n"
            "without, in the same process. The table shows the mean of the recorded\n"
            "iterations, 1.000 ms, 90.0 % of it in the kernels below.\n\n"
            "layer      ms  share %  GFLOP/s  implementation\n"
            "conv1  0.8000     80.0    225.0  brgconv:avx512_core\n"
            "fc     0.1000     10.0    1.000  brgconv:avx512_core\n");
}

// It said "by -0.0 %".
TEST(LayerTable, AChangeThatRoundsToZeroHasNoMinus) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 100us, 100'000)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  report.profile_passes.front().unprofiled = *report.profile_passes.front().profiled + 100ns;
  EXPECT_THAT(layer_table(report, times, {.width = 80}), HasSubstr("the time by +0.0 %:"));
}

// It gave the mean of the recorded iterations as the time of one, beside the change of medians.
TEST(LayerTable, TheChangeByProfilingNamesTheTwoTimesThatItCompares) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 468ms, 100'000)});
  Report report;
  report.profile_passes = {pass(kNet, 468'300us)};
  report.profile_passes.front().iterations = 5;
  report.profile_passes.front().profiled = 88'600us;
  report.profile_passes.front().unprofiled = 90'100us;
  EXPECT_THAT(layer_table(report, times, {.width = 1000}),
              HasSubstr("takes 88.60 ms. Profiling changed the time by -1.7 %: 88.60 ms with the "
                        "profiler, 90.10 ms without, in the same process. The table shows the mean "
                        "of the recorded iterations, 93.66 ms"));
}

TEST(LayerTable, WithoutTimesOfTheProfilerOnlyTheRecordedIterationsAreDescribed) {
  LayerTimes times;
  take_all(times, {executed(kNet, "net:fc", 1ms, 100'000)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  report.profile_passes.front().unprofiled = std::nullopt;
  EXPECT_THAT(layer_table(report, times, {.width = 1000}),
              testing::StartsWith("The table shows the mean of the recorded iterations, 1.000 ms"));
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
  take_all(times, {executed(kNet, "net:fc", 2ms, 1'000'000)});
  Report report;
  report.profile_passes = {pass(kNet, 2ms)};
  EXPECT_THAT(layer_table(report, times, {}), Not(HasSubstr("% peak")));
  report.cases.resize(1);
  report.cases[0].id = kNet;
  report.cases[0].roofline.emplace().peak_flops_per_s = FlopsPerSecond{1e9};
  // 1 MFLOP in 2 ms is half of 1 GFLOP/s.
  EXPECT_THAT(layer_table(report, times, {}),
              testing::ContainsRegex("fc +1.0000 +100.0 +0.5000 +50 "));
}

TEST(LayerTable, EqualLayersOfTwoCasesNameTheirCases) {
  LayerTimes times;
  const std::string other = "network/forward/net/bf16/onednn/cpu/hot";
  take_all(times, {executed(kNet, "net:fc", 200us, 1), executed(other, "net:fc", 100us, 1)});
  Report report;
  report.profile_passes = {pass(kNet, 400us), pass(other, 400us)};
  const std::string table = layer_table(report, times, {.width = 200});
  EXPECT_THAT(table, HasSubstr("One profiled iteration of all 2 cases takes 2.060 ms."));
  EXPECT_THAT(table, HasSubstr("iterations of each case, 400.0 us"));
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

}  // namespace
}  // namespace bench
