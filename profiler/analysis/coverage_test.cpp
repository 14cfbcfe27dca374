// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/coverage.hpp"

#include <gtest/gtest.h>

namespace bench {
namespace {

using analysis::IntervalUnion;

constexpr std::int64_t kMs = 1'000'000;

Activity lasting(ActivityKind kind, std::int64_t start_ms, std::int64_t ms, std::int64_t pid = 7,
                 std::int64_t tid = 7) {
  Activity activity;
  activity.kind = kind;
  activity.name = "x";
  activity.start = Nanoseconds(start_ms * kMs);
  activity.duration = Nanoseconds(ms * kMs);
  activity.track.pid = pid;
  activity.track.tid = tid;
  return activity;
}

WallCoverage measure(const std::vector<Activity>& activities,
                     StartTimes starts = StartTimes::recorded) {
  CoverageSink sink;
  for (const Activity& activity : activities) EXPECT_TRUE(sink.consume(activity).ok());
  return sink.coverage(starts);
}

TEST(IntervalUnion, CountsWhatOverlapsOnce) {
  IntervalUnion intervals;
  intervals.add(Nanoseconds(10), Nanoseconds(20));
  intervals.add(Nanoseconds(15), Nanoseconds(30));
  intervals.add(Nanoseconds(40), Nanoseconds(50));
  EXPECT_EQ(intervals.total(), Nanoseconds(30));
  intervals.add(Nanoseconds(50), Nanoseconds(50));
  intervals.add(Nanoseconds(60), Nanoseconds(55));
  EXPECT_EQ(intervals.total(), Nanoseconds(30));
  intervals.add(Nanoseconds(0), Nanoseconds(100));
  EXPECT_EQ(intervals.total(), Nanoseconds(100));
}

TEST(IntervalUnion, StaysExactWhenManyIntervalsAreJoined) {
  IntervalUnion intervals(8);
  for (std::int64_t i = 0; i < 1000; ++i) {
    intervals.add(Nanoseconds(10 * i), Nanoseconds(10 * i + 3));
    ASSERT_EQ(intervals.total(), Nanoseconds(3 * (i + 1)));
  }
  intervals.add(Nanoseconds(0), Nanoseconds(10'000));  // fills all gaps
  EXPECT_EQ(intervals.total(), Nanoseconds(10'000));
}

// A PyTorch loop of 917 ms with 24 ms of oneDNN was shown as "wall 24 ms, convolution 80 %".
TEST(WallCoverage, OnednnIsAShareOfTheProcessAndNotOfItself) {
  const WallCoverage coverage =
      measure({lasting(ActivityKind::primitive, 100, 20), lasting(ActivityKind::primitive, 500, 4),
               lasting(ActivityKind::process, 0, 917)});
  EXPECT_EQ(coverage.source, WallSource::processes);
  EXPECT_EQ(coverage.wall, Nanoseconds(917 * kMs));
  EXPECT_EQ(describe_coverage(coverage),
            "oneDNN was 24.00 ms of 917.0 ms of wall time, 2.6 %; the rest is invisible to this "
            "profile.");
}

TEST(WallCoverage, WithoutTheTimeOfTheProcessTheWallIsFromTheFirstToTheLastActivity) {
  const WallCoverage coverage = measure(
      {lasting(ActivityKind::primitive, 100, 20), lasting(ActivityKind::primitive, 300, 20)});
  EXPECT_EQ(coverage.source, WallSource::activities);
  EXPECT_EQ(describe_coverage(coverage),
            "oneDNN was 40.00 ms of 220.0 ms from the first to the last activity, 18.2 %; the rest "
            "is invisible to this profile. How long the process ran before and after is unknown.");
}

TEST(WallCoverage, WithoutStartTimesThereIsNoShare) {
  const WallCoverage coverage =
      measure({lasting(ActivityKind::primitive, 0, 20)}, StartTimes::computed);
  EXPECT_EQ(coverage.source, WallSource::unknown);
  EXPECT_EQ(describe_coverage(coverage),
            "oneDNN was 20.00 ms. The file has no start times, so the share of the process is "
            "unknown.");
}

TEST(WallCoverage, ThreadsThatWorkAtTheSameTimeCountOnce) {
  const WallCoverage coverage = measure({lasting(ActivityKind::primitive, 0, 60, 7, 7),
                                         lasting(ActivityKind::primitive, 20, 60, 7, 8),
                                         lasting(ActivityKind::process, 0, 100)});
  EXPECT_EQ(coverage.primitives, Nanoseconds(80 * kMs));
}

// A network of oneDNN has steps of this program's own loops, which are primitives without a phase.
TEST(WallCoverage, AStepOfAnotherBackendIsNotOnednn) {
  Activity own = lasting(ActivityKind::primitive, 0, 30);
  own.attributes.set(Attribute::op, "convolution");
  own.attributes.set(Attribute::phase, "exec");
  Activity other = lasting(ActivityKind::primitive, 30, 20);
  other.attributes.set(Attribute::op, "loss");
  const WallCoverage coverage = measure({own, other, lasting(ActivityKind::process, 0, 100)});
  EXPECT_EQ(coverage.primitives, Nanoseconds(30 * kMs));
  EXPECT_EQ(coverage.recorded, Nanoseconds(50 * kMs));
}

TEST(WallCoverage, ProcessesAddUpAndOnlyThoseThatRecordedSomething) {
  const WallCoverage coverage = measure(
      {lasting(ActivityKind::primitive, 0, 10, 7), lasting(ActivityKind::primitive, 0, 10, 8),
       lasting(ActivityKind::process, 0, 100, 6), lasting(ActivityKind::process, 0, 100, 7),
       lasting(ActivityKind::process, 0, 100, 8)});
  EXPECT_EQ(describe_coverage(coverage),
            "oneDNN was 20.00 ms of 200.0 ms of wall time of 2 processes together, 10.0 %; the "
            "rest is invisible to this profile. 1 more process recorded nothing.");
}

TEST(WallCoverage, RangesAndGpusAreNamedBesidesOnednn) {
  Activity kernel = lasting(ActivityKind::kernel, 50, 30);
  kernel.track.device = 0;
  const WallCoverage coverage =
      measure({lasting(ActivityKind::primitive, 10, 10), lasting(ActivityKind::range, 0, 80),
               kernel, lasting(ActivityKind::process, 0, 100)});
  EXPECT_EQ(describe_coverage(coverage),
            "oneDNN was 10.00 ms of 100.0 ms of wall time, 10.0 %; GPU 0 was busy for 30.00 ms, "
            "30.0 %; the host was recorded in 80.0 %; the rest is invisible to this "
            "profile.");
}

TEST(WallCoverage, APartThatRoundsToNothingIsStillAPart) {
  EXPECT_EQ(format_part(Nanoseconds(1), Nanoseconds(10'000)), "less than 0.1 %");
  EXPECT_EQ(format_part(Nanoseconds(0), Nanoseconds(10'000)), "0.0 %");
  EXPECT_EQ(format_part(Nanoseconds(1), Nanoseconds(0)), "n/a");
}

}  // namespace
}  // namespace bench

namespace bench::analysis {
namespace {

TEST(WallShares, AreInProportionAndAddUpExactly) {
  const Durations times = {{"a", Nanoseconds(1)}, {"b", Nanoseconds(1)}, {"c", Nanoseconds(1)}};
  for (const std::int64_t occupied : {1, 2}) {
    const Durations divided = divide_wall(times, Nanoseconds(occupied));
    EXPECT_EQ(sum_durations(divided), Nanoseconds(occupied));
    for (const auto& [name, time] : divided) EXPECT_GE(time, Nanoseconds(0));
  }
  const Durations divided =
      divide_wall({{"a", Nanoseconds(300)}, {"b", Nanoseconds(100)}}, Nanoseconds(200));
  EXPECT_EQ(divided.at("a"), Nanoseconds(150));
  EXPECT_EQ(divided.at("b"), Nanoseconds(50));
}

TEST(WallShares, OneThreadKeepsItsTimes) {
  const Durations times = {{"a", Nanoseconds(3)}, {"b", Nanoseconds(4)}};
  EXPECT_EQ(divide_wall(times, Nanoseconds(7)), times);
  EXPECT_EQ(divide_wall(times, Nanoseconds(100)), times);
  EXPECT_TRUE(divide_wall({}, Nanoseconds(0)).empty());
}

}  // namespace
}  // namespace bench::analysis
