// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/self_time.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;

Activity activity(std::string name, std::int64_t start, std::int64_t end, std::int64_t tid = 1) {
  Activity made;
  made.name = std::move(name);
  made.start = Nanoseconds(start);
  made.duration = Nanoseconds(end - start);
  made.track.tid = tid;
  return made;
}

struct SelfTimeAnswer {
  std::map<std::string, std::optional<std::int64_t>> self;
  std::vector<std::string> order;
  std::int64_t out_of_order = 0;
};

SelfTimeAnswer self_times(const std::vector<Activity>& activities) {
  SelfTimeAnswer answer;
  SelfTimes stage([&](const Activity& each, std::optional<Nanoseconds> self) {
    answer.self[each.name] = self ? std::optional(self->count()) : std::nullopt;
    answer.order.push_back(each.name);
    return Status(Done{});
  });
  for (const Activity& each : activities) EXPECT_TRUE(stage.consume(each).ok());
  EXPECT_TRUE(stage.finish().ok());
  answer.out_of_order = stage.out_of_order();
  return answer;
}

// network [0, 100] > layer [10, 60] > primitive [20, 50]; a second primitive [70, 90]
const std::map<std::string, std::optional<std::int64_t>> kNested = {
    {"network", 30}, {"layer", 20}, {"primitive", 30}, {"second", 20}};

TEST(SelfTimes, OfActivitiesInTheOrderOfTheirEnds) {
  const SelfTimeAnswer answer =
      self_times({activity("primitive", 20, 50), activity("layer", 10, 60),
                  activity("second", 70, 90), activity("network", 0, 100)});
  EXPECT_EQ(answer.self, kNested);
  EXPECT_THAT(answer.order, ElementsAre("primitive", "layer", "second", "network"));
}

TEST(SelfTimes, OfActivitiesInTheOrderOfTheirStarts) {
  const SelfTimeAnswer answer =
      self_times({activity("network", 0, 100), activity("layer", 10, 60),
                  activity("primitive", 20, 50), activity("second", 70, 90)});
  EXPECT_EQ(answer.self, kNested);
  EXPECT_EQ(answer.out_of_order, 0);
}

TEST(SelfTimes, OfTwoThatTakeTheSameTimeTheOperatorEnclosesThePrimitive) {
  Activity primitive = activity("primitive", 0, 50);
  primitive.kind = ActivityKind::primitive;
  const Activity layer = activity("layer", 0, 50);
  for (const auto& order : {std::vector{primitive, layer}, std::vector{layer, primitive}}) {
    const SelfTimeAnswer answer = self_times(order);
    EXPECT_EQ(answer.self.at("primitive"), 50);
    EXPECT_EQ(answer.self.at("layer"), 0);
    EXPECT_EQ(answer.out_of_order, 0);
  }
}

TEST(SelfTimes, ThreadsDoNotNestInEachOther) {
  const SelfTimeAnswer answer = self_times({activity("a", 10, 20, 1), activity("b", 0, 100, 2)});
  EXPECT_EQ(answer.self.at("b"), 100);
  EXPECT_EQ(answer.self.at("a"), 10);
}

TEST(SelfTimes, InstantsCountersAndWhatNeverEndedHaveNone) {
  Activity marker = activity("marker", 5, 5);
  marker.kind = ActivityKind::marker;
  Activity allocation = activity("allocation", 0, 80);
  allocation.kind = ActivityKind::allocation;
  Activity unfinished = activity("unfinished", 6, 6);
  unfinished.duration.reset();
  const SelfTimeAnswer answer =
      self_times({marker, allocation, unfinished, activity("range", 0, 100)});
  EXPECT_EQ(answer.self.at("marker"), std::nullopt);
  EXPECT_EQ(answer.self.at("allocation"), std::nullopt);
  EXPECT_EQ(answer.self.at("unfinished"), std::nullopt);
  EXPECT_EQ(answer.self.at("range"), 100);
}

TEST(SelfTimes, AChildThatComesTooLateIsCounted) {
  const SelfTimeAnswer answer = self_times({activity("first", 0, 100), activity("next", 200, 300),
                                            activity("late", 10, 20), activity("last", 400, 500)});
  EXPECT_EQ(answer.self.at("first"), 100);
  EXPECT_EQ(answer.out_of_order, 1);
}

TEST(SelfTimes, RecordsThatOverlapGiveNoTimeBelowZeroAndNoOverflow) {
  const SelfTimeAnswer few =
      self_times({activity("a", 0, 80), activity("b", 20, 100), activity("both", 0, 100)});
  EXPECT_EQ(few.self.at("both"), 0);
  constexpr std::int64_t kLong = std::int64_t{1} << 60;
  std::vector<Activity> many;
  for (std::int64_t i = 0; i < 32; ++i) many.push_back(activity("part", i, kLong + i));
  many.push_back(activity("whole", 0, kLong + 100));
  EXPECT_EQ(self_times(many).self.at("whole"), 0);
}

SelfTimes::Crossing crossing_of(const std::vector<Activity>& activities) {
  SelfTimes stage([](const Activity&, std::optional<Nanoseconds>) { return Status(Done{}); });
  for (const Activity& each : activities) EXPECT_TRUE(stage.consume(each).ok());
  EXPECT_TRUE(stage.finish().ok());
  return stage.crossing();
}

TEST(SelfTimes, ACrossingIsAsLargeAsTheErrorAndNotAsTheCommonTime) {
  const Activity outer = activity("outer", 0, 10'000'000);
  EXPECT_EQ(crossing_of({outer, activity("ends late", 10'000, 10'000'001)}).count, 0);
  EXPECT_EQ(crossing_of({activity("begins early", -1, 9'000'000), outer}).count, 0);
  EXPECT_EQ(crossing_of({outer, activity("next", 9'999'999, 20'000'000)}).count, 0);
  const SelfTimes::Crossing late = crossing_of({outer, activity("late", 10'000, 10'003'000)});
  EXPECT_EQ(late.count, 1);
  EXPECT_EQ(late.largest, Nanoseconds(3'000));
}

TEST(SelfTimes, OfAParentWithVeryManyChildrenAreRightOrUnknown) {
  std::vector<Activity> activities;
  constexpr std::int64_t kChildren = 40'000;
  for (std::int64_t i = 0; i < kChildren; ++i) {
    activities.push_back(activity("child", 10 * i, 10 * i + 4));
  }
  activities.push_back(activity("parent", 0, 10 * kChildren));
  EXPECT_EQ(self_times(activities).self.at("parent"), 6 * kChildren);
  activities.back() = activity("some", 5 * 10 + 5, 10 * kChildren);  // between joined siblings
  const auto self = self_times(activities).self.at("some");
  EXPECT_EQ(self.value_or(10 * kChildren - 55 - 4 * (kChildren - 6)),
            10 * kChildren - 55 - 4 * (kChildren - 6));
}

TEST(SelfTimes, AnErrorOfTheNextStageIsHandedBack) {
  SelfTimes stage([](const Activity&, std::optional<Nanoseconds>) {
    return Status(Error{"disk full", "", ""});
  });
  EXPECT_TRUE(stage.consume(activity("a", 0, 10)).ok());  // waits for nested activities
  EXPECT_FALSE(stage.consume(activity("b", 20, 30)).ok());
  EXPECT_TRUE(stage.consume(activity("c", 40, 50)).ok());
  EXPECT_FALSE(stage.finish().ok());
}

}  // namespace
}  // namespace bench
