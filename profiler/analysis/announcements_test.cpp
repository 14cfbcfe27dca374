// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/announcements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Names final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    names.push_back(activity.name + (activity.duration ? "" : "?"));
    return Done{};
  }
  std::vector<std::string> names;
};

Activity begun(const std::string& name, std::int64_t start) {
  Activity activity;
  activity.name = name;
  activity.start = Nanoseconds(start);
  activity.attributes.set(Attribute::unfinished, std::int64_t{1});
  return activity;
}

Activity ended(const std::string& name, std::int64_t start) {
  Activity activity;
  activity.name = name;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(5);
  return activity;
}

TEST(BeginRecordMerger, GiveWayToTheirEndAndStayWithoutOne) {
  Names names;
  BeginRecordMerger stage(names);
  for (const Activity& activity : {begun("network", 0), begun("layer", 1), ended("layer", 1),
                                   begun("layer", 10), ended("other", 10)}) {
    ASSERT_TRUE(stage.consume(activity).ok());
  }
  EXPECT_THAT(names.names, ElementsAre("layer", "other"));
  ASSERT_TRUE(stage.finish().ok());
  EXPECT_THAT(names.names, ElementsAre("layer", "other", "network?", "layer?"));
}

TEST(BeginRecordMerger, OfPrimitivesGiveWayToTheExecutionThatBeganLater) {
  Names names;
  BeginRecordMerger stage(names);
  const auto primitive = [](Activity activity, std::string_view phase) {
    activity.kind = ActivityKind::primitive;
    if (!phase.empty()) activity.attributes.set(Attribute::phase, phase);
    return activity;
  };
  for (const Activity& activity :
       {primitive(begun("convolution", 10), ""),  // announced with its operator
        primitive(ended("convolution", 11), "create"), primitive(ended("convolution", 12), "exec"),
        primitive(begun("convolution", 20), "")}) {
    ASSERT_TRUE(stage.consume(activity).ok());
  }
  ASSERT_TRUE(stage.finish().ok());
  EXPECT_THAT(names.names, ElementsAre("convolution", "convolution", "convolution?"));
}

TEST(BeginRecordMerger, OfAHostileFileDoNotPileUp) {
  Names names;
  BeginRecordMerger stage(names);
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(stage.consume(begun("a", i)).ok());
  EXPECT_THAT(names.names, IsEmpty());
  ASSERT_TRUE(stage.consume(begun("b", 0)).ok());
  EXPECT_THAT(names.names, ElementsAre("a?"));
}

}  // namespace
}  // namespace bench
