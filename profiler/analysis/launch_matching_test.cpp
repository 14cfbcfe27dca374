// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/launch_matching.hpp"

#include <gtest/gtest.h>

namespace bench::analysis {
namespace {

Activity call(const std::string& name, std::uint64_t correlation, std::int64_t start,
              std::int64_t duration = 1000) {
  Activity activity;
  activity.kind = ActivityKind::api;
  activity.name = name;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(duration);
  activity.track = {1, 2, std::nullopt, std::nullopt};
  activity.correlation = correlation;
  return activity;
}

Activity work(ActivityKind kind, std::uint64_t correlation, std::int64_t start,
              std::int64_t duration = 1000) {
  Activity activity = call("work", correlation, start, duration);
  activity.kind = kind;
  activity.track.device = 0;
  return activity;
}

LaunchMatch match(const std::vector<Activity>& activities) {
  LaunchMatcher matcher;
  for (const Activity& activity : activities) matcher.add(activity);
  return matcher.finish();
}

const LaunchCount& kernels(const LaunchMatch& found) {
  return found.kinds[static_cast<std::size_t>(LaunchKind::kernel)];
}

TEST(LaunchMatching, CallsOfTheRuntimeTheDriverAndHipLaunchWork) {
  EXPECT_EQ(find_launch_kind("cudaLaunchKernelExC"), LaunchKind::kernel);
  EXPECT_EQ(find_launch_kind("cuLaunchKernelEx"), LaunchKind::kernel);
  EXPECT_EQ(find_launch_kind("hipExtModuleLaunchKernel"), LaunchKind::kernel);
  EXPECT_EQ(find_launch_kind("cudaMemcpyAsync"), LaunchKind::copy);
  EXPECT_EQ(find_launch_kind("cuMemsetD32Async"), LaunchKind::fill);
  EXPECT_EQ(find_launch_kind("cudaGraphLaunch"), LaunchKind::graph);
  EXPECT_EQ(find_launch_kind("cudaLaunchHostFunc"), std::nullopt);
  EXPECT_EQ(find_launch_kind("cudaMalloc"), std::nullopt);
}

TEST(LaunchMatching, ALaunchWithoutRecordIsMissing) {
  const LaunchMatch found =
      match({call("cudaLaunchKernel", 1, 0), work(ActivityKind::kernel, 1, 500),
             call("cudaLaunchKernel", 2, 2000)});
  EXPECT_EQ(kernels(found), (LaunchCount{2, 1, 2, 2}));
  EXPECT_EQ(found.without_call, 0);
}

TEST(LaunchMatching, TheDriversCallInsideTheRuntimesIsTheSameLaunch) {
  const LaunchMatch found =
      match({call("cuLaunchKernel", 1, 100, 500), call("cudaLaunchKernel", 1, 0, 1000),
             work(ActivityKind::kernel, 1, 900)});
  EXPECT_EQ(kernels(found), (LaunchCount{1, 1, 0, 0}));
}

TEST(LaunchMatching, AGraphHasManyRecordsOfOneLaunch) {
  const LaunchMatch found =
      match({work(ActivityKind::kernel, 7, 500), work(ActivityKind::kernel, 7, 1500),
             call("cudaGraphLaunch", 7, 0)});
  EXPECT_EQ(found.kinds[static_cast<std::size_t>(LaunchKind::graph)], (LaunchCount{1, 1, 0, 0}));
  EXPECT_EQ(found.without_call, 0);
}

TEST(LaunchMatching, WhatAGraphCapturesAndWhatFailsHasNoRecord) {
  Activity failed = call("cudaLaunchKernel", 9, 9000);
  failed.attributes.set(Attribute::reason, "returned 98");
  const LaunchMatch found =
      match({call("cudaStreamBeginCapture", 1, 0), call("cudaLaunchKernel", 2, 2000),
             call("cudaStreamEndCapture", 3, 4000), call("cudaLaunchKernel", 4, 6000), failed});
  EXPECT_EQ(kernels(found), (LaunchCount{1, 0, 1, 1}));
}

TEST(LaunchMatching, ProcessesHaveTheirOwnCorrelations) {
  Activity other = work(ActivityKind::kernel, 1, 500);
  other.track.pid = 99;
  const LaunchMatch found = match({call("cudaLaunchKernel", 1, 0), other});
  EXPECT_EQ(kernels(found), (LaunchCount{1, 0, 1, 1}));
  EXPECT_EQ(found.without_call, 1);
}

TEST(LaunchMatching, WorkBeforeItsLaunchContradictsTheClocks) {
  const LaunchMatch found =
      match({call("cudaLaunchKernel", 1, 1'000'000), work(ActivityKind::kernel, 1, 999'000),
             call("cudaLaunchKernel", 2, 2'000'000), work(ActivityKind::kernel, 2, 1'900'000)});
  // 1 us is within the clock's error.
  EXPECT_EQ(found.early, (Contradictions{1, Nanoseconds(100'000)}));
}

TEST(LaunchMatching, ACopyThatTheHostAwaitsBoundsTheClockFromTheOtherSide) {
  std::vector<Activity> activities;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    // The device's clock runs 0.1 % too fast.
    const auto start = static_cast<std::int64_t>(i) * 1'000'000;
    const std::int64_t on_device = start + start / 1000 + 5000;
    activities.push_back(call("cudaMemcpy", i, start, 20'000));
    activities.push_back(work(ActivityKind::memcpy, i, on_device, 10'000));
    activities.back().name = "memcpy device_to_host (device -> pageable)";
  }
  const LaunchMatch found = match(activities);
  EXPECT_EQ(found.begin.at_most, Nanoseconds(6000));
  EXPECT_EQ(found.end.at_least, Nanoseconds(40'000 + 5000 + 10'000 - 20'000));
  EXPECT_GT(found.late.count, 0);
}

TEST(LaunchMatching, MemoryIsBoundedAndTheRestIsCounted) {
  LaunchMatcher matcher(10);
  for (std::uint64_t i = 1; i <= 25; ++i) matcher.add(call("cudaLaunchKernel", i, 0));
  const LaunchMatch found = matcher.finish();
  EXPECT_EQ(kernels(found).calls, 10);
  EXPECT_EQ(found.unchecked, 15);
}

TEST(LaunchMatching, HostileTimesDoNotOverflow) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const LaunchMatch found =
      match({call("cudaLaunchKernel", 1, kFar, kFar), work(ActivityKind::kernel, 1, -kFar, kFar)});
  EXPECT_EQ(found.early.largest, Nanoseconds(kFar));
}

}  // namespace
}  // namespace bench::analysis
