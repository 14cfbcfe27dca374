// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder.hpp"

#include "profiler/scope_path.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

namespace bench {
namespace {

class StepClock final : public Clock {
 public:
  Nanoseconds now() override { return Nanoseconds(++ticks_); }

 private:
  std::int64_t ticks_ = 0;
};

class VectorSink final : public ActivitySink {
 public:
  Status consume(const Activity& activity) override {
    if (activities.size() >= capacity) return Error{"full", "", ""};
    activities.push_back(activity);
    return Done{};
  }
  std::vector<Activity> activities;
  std::size_t capacity = 1000;
};

const std::set<RecordGroup> kAllGroups = {RecordGroup::operators, RecordGroup::api,
                                          RecordGroup::memory, RecordGroup::device};

Activity make_activity(ActivityKind kind, std::string name) {
  Activity activity;
  activity.kind = kind;
  activity.name = std::move(name);
  return activity;
}

class RecorderTest : public ::testing::Test {
 protected:
  StepClock clock_;
  VectorSink sink_;
};

TEST_F(RecorderTest, RecordsBetweenStartAndStopOutsideOfPauses) {
  Recorder recorder(clock_, sink_, kAllGroups);
  const auto mark = [&](const char* name) {
    recorder.record(make_activity(ActivityKind::marker, name));
  };
  mark("before");
  recorder.start();
  mark("running");
  recorder.pause();
  mark("paused");
  recorder.resume();
  mark("resumed");
  recorder.stop();
  recorder.resume();
  mark("stopped");
  ASSERT_EQ(sink_.activities.size(), 2u);
  EXPECT_EQ(sink_.activities[0].name, "running");
  EXPECT_EQ(sink_.activities[1].name, "resumed");
}

TEST_F(RecorderTest, EachGroupSwitchedOffRemovesExactlyItsKinds) {
  for (const RecordGroup disabled : kAllGroups) {
    VectorSink sink;
    std::set<RecordGroup> groups = kAllGroups;
    groups.erase(disabled);
    Recorder recorder(clock_, sink, groups);
    recorder.start();
    std::set<ActivityKind> expected;
    for (std::size_t i = 0; i < enumerator_names<ActivityKind>().size(); ++i) {
      const auto kind = static_cast<ActivityKind>(i);
      recorder.record(make_activity(kind, "x"));
      if (record_group(kind) != disabled) expected.insert(kind);
    }
    std::set<ActivityKind> recorded;
    for (const Activity& activity : sink.activities) recorded.insert(activity.kind);
    EXPECT_EQ(recorded, expected);
  }
}

TEST_F(RecorderTest, CountersBelongToTheGroupOfTheirWriter) {
  Recorder recorder(clock_, sink_, {RecordGroup::memory});
  recorder.start();
  recorder.record(make_activity(ActivityKind::counter, "live bytes"), RecordGroup::memory);
  recorder.record(make_activity(ActivityKind::counter, "calls"), RecordGroup::api);
  recorder.record(make_activity(ActivityKind::counter, "user's"));
  ASSERT_EQ(sink_.activities.size(), 1u);
  EXPECT_EQ(sink_.activities[0].name, "live bytes");
}

TEST_F(RecorderTest, ScopesGiveCaseLayerAndDirection) {
  Recorder recorder(clock_, sink_, kAllGroups);
  recorder.start();
  {
    const Scope net(&recorder, {.name = "net", .case_id = "case", .direction = "forward"});
    {
      const Scope layer(&recorder, {.name = "a:b", .kind = ActivityKind::operation});
      recorder.record(make_activity(ActivityKind::primitive, "convolution"));
    }
    recorder.record(make_activity(ActivityKind::primitive, "reorder"));
  }
  recorder.record(make_activity(ActivityKind::primitive, "outside"));
  ASSERT_EQ(sink_.activities.size(), 5u);
  const Activity& inner = sink_.activities[0];
  EXPECT_EQ(inner.case_id, "case");
  EXPECT_EQ(inner.scope, "net:a\\:b");
  EXPECT_EQ(split_scope(inner.scope), (std::vector<std::string>{"net", "a:b"}));
  EXPECT_EQ(inner.direction, "forward");
  const Activity& layer = sink_.activities[1];
  EXPECT_EQ(layer.kind, ActivityKind::operation);
  EXPECT_EQ(layer.name, "a:b");
  EXPECT_EQ(layer.scope, "net:a\\:b");
  EXPECT_EQ(layer.start, Nanoseconds(2));
  EXPECT_EQ(layer.duration, Nanoseconds(1));
  EXPECT_EQ(sink_.activities[2].scope, "net");
  EXPECT_EQ(sink_.activities[3].name, "net");
  EXPECT_EQ(sink_.activities[4].scope, "");
  EXPECT_EQ(sink_.activities[4].case_id, "");
}

TEST_F(RecorderTest, ScopesAreBalancedAlsoOnErrorPaths) {
  Recorder recorder(clock_, sink_, kAllGroups);
  recorder.start();
  EXPECT_THROW(
      {
        const Scope scope(&recorder, {.name = "failing"});
        throw std::runtime_error("in between");
      },
      std::runtime_error);
  recorder.record(make_activity(ActivityKind::marker, "after"));
  EXPECT_EQ(sink_.activities.back().scope, "");
}

TEST_F(RecorderTest, EachThreadHasScopesOfItsOwn) {
  Recorder recorder(clock_, sink_, kAllGroups);
  recorder.start();
  const Scope here(&recorder, {.name = "here", .kind = std::nullopt});
  std::thread([&] {
    const Scope there(&recorder, {.name = "there", .kind = std::nullopt});
    recorder.record(make_activity(ActivityKind::marker, "m"));
  }).join();
  recorder.record(make_activity(ActivityKind::marker, "m"));
  ASSERT_EQ(sink_.activities.size(), 2u);
  EXPECT_EQ(sink_.activities[0].scope, "there");
  EXPECT_EQ(sink_.activities[1].scope, "here");
  EXPECT_NE(sink_.activities[0].track.tid, sink_.activities[1].track.tid);
  EXPECT_EQ(sink_.activities[0].track.pid, current_process());
}

TEST_F(RecorderTest, AnnouncedActivitiesAreUnfinished) {
  Recorder recorder(clock_, sink_, kAllGroups);
  recorder.start();
  recorder.record_unfinished(make_activity(ActivityKind::primitive, "convolution"));
  ASSERT_EQ(sink_.activities.size(), 1u);
  EXPECT_EQ(sink_.activities[0].attributes.integer(Attribute::unfinished), 1);
  EXPECT_FALSE(sink_.activities[0].duration);
}

TEST_F(RecorderTest, FullSinkEndsTheRecordingWithItsReason) {
  sink_.capacity = 1;
  Recorder recorder(clock_, sink_, kAllGroups);
  recorder.start();
  for (int i = 0; i < 3; ++i) recorder.record(make_activity(ActivityKind::marker, "m"));
  EXPECT_EQ(recorder.status().error().what, "full");
  EXPECT_EQ(sink_.activities.size(), 1u);
}

}  // namespace
}  // namespace bench
