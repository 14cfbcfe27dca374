// SPDX-License-Identifier: Apache-2.0
#include "harness/store/iteration_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::IsEmpty;

Activity activity(ActivityKind kind, const std::string& name, std::int64_t number, int start,
                  int duration) {
  Activity result;
  result.kind = kind;
  result.name = name;
  result.case_id = "a/b";
  result.start = Nanoseconds(start);
  result.duration = Nanoseconds(duration);
  result.attributes.set(Attribute::iteration, number);
  return result;
}

void consume(IterationSink& sink, const Activity& activity) {
  EXPECT_TRUE(sink.consume(activity).ok());
}

TEST(IterationSinkTest, KeepsTheMedianIterationFromItsBegin) {
  IterationSink sink;
  Activity matmul = activity(ActivityKind::primitive, "matmul", 5, 110, 40);
  matmul.scope = "net:fc";
  matmul.attributes.set(Attribute::implementation, "brg:avx2");
  matmul.attributes.set(Attribute::flops, std::int64_t{8192});
  matmul.attributes.set(Attribute::bytes, std::int64_t{64});
  consume(sink, matmul);
  consume(sink, activity(ActivityKind::api, "dnnl_primitive_execute", 5, 105, 50));
  consume(sink, activity(ActivityKind::primitive, "before", 5, 90, 5));
  consume(sink, activity(ActivityKind::range, "iteration", 5, 100, 60));
  consume(sink, activity(ActivityKind::primitive, "slower", 6, 200, 70));
  consume(sink, activity(ActivityKind::range, "iteration", 6, 190, 100));
  consume(sink, activity(ActivityKind::primitive, "faster", 7, 300, 20));
  consume(sink, activity(ActivityKind::range, "iteration", 7, 290, 30));
  const auto profiles = sink.profiles();
  ASSERT_EQ(profiles.size(), 1u);
  const StoredProfile& profile = profiles.at("a/b");
  EXPECT_EQ(profile.duration, Nanoseconds(60));
  EXPECT_EQ(profile.left_out, 0);
  ASSERT_EQ(profile.activities.size(), 1u);
  const StoredActivity expected{"primitive",     "matmul",        "brg:avx2", "net:fc",
                                Nanoseconds(10), Nanoseconds(40), 8192,       64};
  EXPECT_EQ(profile.activities[0], expected);
}

TEST(IterationSinkTest, WhatBelongsToNoWholeIterationIsNotKept) {
  IterationSink sink;
  Activity creation = activity(ActivityKind::primitive, "matmul", 0, 10, 5);
  creation.attributes.erase(Attribute::iteration);
  consume(sink, creation);
  consume(sink, activity(ActivityKind::primitive, "never closed", 5, 10, 5));
  Activity unowned = activity(ActivityKind::primitive, "no case", 5, 10, 5);
  unowned.case_id.clear();
  consume(sink, unowned);
  Activity unfinished = activity(ActivityKind::primitive, "unfinished", 5, 10, 5);
  unfinished.duration.reset();
  consume(sink, unfinished);
  EXPECT_THAT(sink.profiles(), IsEmpty());
}

}  // namespace
}  // namespace bench
