// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/time_order.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace bench::analysis {
namespace {

Activity timed_at(ActivityKind kind, std::int64_t start, std::int64_t duration) {
  Activity activity;
  activity.kind = kind;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(duration);
  activity.track = {1, 2, std::nullopt, std::nullopt};
  return activity;
}

TimeOrderFindings check_order(const std::vector<Activity>& activities) {
  TimeOrder order;
  for (const Activity& activity : activities) order.add(activity);
  return order.finish();
}

TEST(TimeOrder, NestedActivitiesFitInBothOrdersOfFiles) {
  const Activity outer = timed_at(ActivityKind::api, 0, 100'000);
  const Activity inner = timed_at(ActivityKind::primitive, 10'000, 50'000);
  for (const TimeOrderFindings& found :
       {check_order({inner, outer}), check_order({outer, inner})}) {
    EXPECT_EQ(found.crossing.count, 0);
    EXPECT_EQ(found.backwards, 0);
  }
}

TEST(TimeOrder, CrossingActivitiesContradictEachOtherInBothOrders) {
  const Activity first = timed_at(ActivityKind::api, 0, 100'000);
  const Activity second = timed_at(ActivityKind::api, 60'000, 100'000);
  EXPECT_EQ(check_order({first, second}).crossing, (Contradictions{1, Nanoseconds(40'000)}));
  EXPECT_EQ(check_order({first, second}).backwards, 0);
}

TEST(TimeOrder, MicrosecondsAreWithinTheClocksError) {
  EXPECT_EQ(check_order({timed_at(ActivityKind::api, 0, 100'000),
                         timed_at(ActivityKind::api, 99'000, 100'000)})
                .crossing.count,
            0);
}

// Every profile of `bench run --profile` was doubtful.
TEST(TimeOrder, CreationsOfOnednnNeedNotNest) {
  Activity creation = timed_at(ActivityKind::primitive, 90'000, 73'000);
  creation.attributes.set(Attribute::phase, "create");
  EXPECT_EQ(check_order({timed_at(ActivityKind::api, 0, 120'000), creation}).crossing.count, 0);
}

TEST(TimeOrder, KernelsAndOtherThreadsMayOverlap) {
  Activity kernel = timed_at(ActivityKind::kernel, 0, 100'000);
  kernel.track.device = 0;
  Activity thread = timed_at(ActivityKind::api, 50'000, 100'000);
  thread.track.tid = 9;
  EXPECT_EQ(
      check_order({kernel, kernel, timed_at(ActivityKind::api, 0, 100'000), thread}).crossing.count,
      0);
}

TEST(TimeOrder, ARecordThatComesAfterWhatEnclosesItIsBackwards) {
  const TimeOrderFindings found = check_order({timed_at(ActivityKind::api, 0, 100'000),
                                               timed_at(ActivityKind::api, 200'000, 1000),
                                               timed_at(ActivityKind::api, 10'000, 1000)});
  EXPECT_EQ(found.backwards, 1);
  EXPECT_EQ(found.crossing.count, 0);
}

TEST(TimeOrder, HostileTimesDoNotOverflow) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const TimeOrderFindings found = check_order(
      {timed_at(ActivityKind::process, -kFar, 1), timed_at(ActivityKind::marker, kFar, kFar)});
  EXPECT_EQ(found.after_end.count, 1);
}

}  // namespace
}  // namespace bench::analysis
