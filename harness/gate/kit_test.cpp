// SPDX-License-Identifier: Apache-2.0
#include "harness/gate/kit.hpp"

#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Activity primitive(const std::string& name, std::int64_t iteration, std::int64_t start,
                   std::int64_t duration, const std::string& implementation) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = name;
  activity.scope = "net:conv1";
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(duration);
  activity.track.pid = 4711;
  activity.correlation = 7;
  activity.attributes.set(Attribute::iteration, iteration);
  activity.attributes.set(Attribute::implementation, implementation);
  return activity;
}

// Two iterations, each a reorder, a convolution and another reorder.
std::vector<Activity> profile(std::int64_t convolution, const std::string& implementation) {
  std::vector<Activity> activities;
  Activity creation = primitive("convolution", 0, 10, 500, implementation);
  creation.attributes.erase(Attribute::iteration);
  activities.push_back(creation);
  for (std::int64_t i = 0; i < 2; ++i) {
    const std::int64_t start = 1000 + 1000 * i;
    activities.push_back(primitive("reorder", i, start, 10, "simple:any"));
    activities.push_back(primitive("convolution", i, start + 20, convolution, implementation));
    activities.push_back(primitive("reorder", i, start + 900, 30, "simple:any"));
  }
  return activities;
}

TEST(Kit, ASideHoldsItsIterationsFromZeroOnAndNothingElse) {
  const KitSide side = make_kit_side("base", profile(100, "jit:avx2"));
  ASSERT_THAT(side.activities, SizeIs(6));
  EXPECT_EQ(side.activities[0].start, Nanoseconds(0));
  EXPECT_EQ(side.activities[1].start, Nanoseconds(20));
  EXPECT_EQ(side.activities[0].track.pid, 4711);
  EXPECT_EQ(side.activities[0].attributes.text(Attribute::process_name), "base");
  EXPECT_FALSE(side.activities[0].correlation);
}

TEST(Kit, WhatNeverCameToAnIterationIsKeptWhole) {
  Activity creation = primitive("convolution", 0, 50, 500, "jit");
  creation.attributes.erase(Attribute::iteration);
  const KitSide side = make_kit_side("candidate", {creation});
  ASSERT_THAT(side.activities, SizeIs(1));
  EXPECT_EQ(side.activities[0].start, Nanoseconds(0));
}

TEST(Kit, ComparesOccurrenceByOccurrence) {
  std::vector<Activity> after = profile(300, "jit:sse41");
  std::erase_if(after, [](const Activity& activity) {
    return activity.name == "reorder" && activity.duration == Nanoseconds(30);
  });
  after.push_back(primitive("sum", 0, 1950, 5, "simple"));
  const auto rows = compare_sides(make_kit_side("base", profile(100, "jit:avx2")),
                                  make_kit_side("candidate", after), 0.02);
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_EQ(rows[0].change, KitRow::Change::slower);
  EXPECT_EQ(rows[0].name, "convolution");
  EXPECT_EQ(rows[0].base, Nanoseconds(100));
  EXPECT_EQ(rows[0].candidate, Nanoseconds(300));
  EXPECT_EQ(rows[0].candidate_implementation, "jit:sse41");
  EXPECT_EQ(rows[1].change, KitRow::Change::vanished);
  EXPECT_EQ(rows[1].name, "reorder #2");
  EXPECT_EQ(rows[2].change, KitRow::Change::appeared);
  EXPECT_EQ(rows[2].name, "sum");
  EXPECT_EQ(rows[3].change, KitRow::Change::same);
}

class KitText : public testing::Test {
 protected:
  KitText() {
    gate_.facts.candidate = {"/opt/bench", "0.2.0", "cafe", {}, {{"onednn", "3.2.0"}}};
    gate_.facts.base = GateSide{"/old/bench", "0.1.0", "beef", {}, {{"onednn", "3.1.0"}}};
    gate_.evidence.changes = {{"onednn", "3.1.0", "3.2.0"}};
    judgement_.id = "conv/a|b";
    judgement_.verdict = Verdict::regression;
    judgement_.effect = 0.5;
    judgement_.changes = {{"implementation", "jit:avx2", "jit:sse41"}};
    kit_.gate = &gate_;
    kit_.judgement = &judgement_;
    kit_.base = make_kit_side("base", profile(100, "jit:avx2"));
    kit_.candidate = make_kit_side("candidate", profile(150, "jit:sse41"));
    kit_.base->facts = {{"isa", "AVX2"}, {"threads", "1"}};
    kit_.candidate->facts = {{"isa", "SSE4.1"}, {"threads", "1"}};
  }
  GateFile gate_;
  CaseAssessment judgement_;
  Kit kit_;
};

TEST_F(KitText, NamesImplementationIsaAndLibraryInASentence) {
  const auto rows = compare_sides(*kit_.base, *kit_.candidate, 0.02);
  EXPECT_EQ(describe_kit_changes(kit_, rows),
            "What else changed: implementation jit:avx2 -> jit:sse41; isa AVX2 -> SSE4.1; onednn "
            "3.1.0 -> 3.2.0; 1 of 3 steps run another implementation.");
}

TEST_F(KitText, SaysSoWhereNothingElseChanged) {
  gate_.evidence.changes.clear();
  judgement_.changes.clear();
  kit_.base.reset();
  EXPECT_EQ(describe_kit_changes(kit_, {}), "No other known property changed.");
}

TEST_F(KitText, TheReportHoldsTableAndReproduction) {
  const std::string text = format_kit(kit_, compare_sides(*kit_.base, *kit_.candidate, 0.02));
  EXPECT_THAT(text, AllOf(HasSubstr("# REGRESSION: "), HasSubstr("\n1.5x slower"),
                          HasSubstr("bench duet 'conv/a|b' --base /old/bench --cand /opt/bench"),
                          HasSubstr("| slower | net:conv1 | convolution | 100 ns | 150 ns | "
                                    "jit:avx2 -> jit:sse41 |")));
}

// Issue 16: the table contradicted the verdict next to it and did not say so.
TEST_F(KitText, ATotalThatContradictsTheVerdictSaysWhatCounts) {
  const auto rows = compare_sides(*kit_.base, *kit_.candidate, 0.02);
  judgement_.effect = 0.36;  // 140 ns to 190 ns
  EXPECT_EQ(describe_kit_total(kit_, rows),
            "Together the activities take 140 ns and 190 ns (+35.7%).");
  judgement_.effect = 1.14;
  EXPECT_EQ(describe_kit_total(kit_, rows),
            "Together the activities take 140 ns and 190 ns (+35.7%); the verdict's +114.0% is "
            "decisive: it comes from many more samples without a profiler.");
  kit_.base.reset();
  EXPECT_EQ(describe_kit_total(kit_, rows), "");
}

TEST_F(KitText, AStoredIterationIsTheBasesHalf) {
  StoredProfile stored;
  stored.activities.push_back({"primitive", "convolution", "jit:avx2", "net:conv1", Nanoseconds(20),
                               Nanoseconds(100), 5, 6});
  kit_.base = make_kit_side("stored, beef, 2026-11-20", stored, judgement_.id);
  const auto rows = compare_sides(*kit_.base, *kit_.candidate, 0.02);
  EXPECT_EQ(rows[0].name, "convolution");
  EXPECT_EQ(rows[0].change, KitRow::Change::slower);
  EXPECT_THAT(
      format_kit(kit_, rows),
      HasSubstr("Times of one iteration: stored, beef, 2026-11-20 and candidate (medians of 2 "
                "iterations). "));
}

// Linux gave the worker of the candidate the number of the base's, long after it.
TEST_F(KitText, SidesWithTheSameProcessNumberAreTwoProcessesOfTheTrace) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_kit(kit_, folder.path(), "", Existing::replace).ok());
  const std::string trace = test::read_text(folder.file("trace.json"));
  EXPECT_THAT(trace, AllOf(HasSubstr("\"name\":\"base (process 4711)\""),
                           HasSubstr("\"name\":\"candidate\"")));
}

// The text named both sides and two files even if only one side, or none, had a profile.
TEST_F(KitText, OnlySidesWithAProfileAreShown) {
  const KitSide nothing;
  EXPECT_THAT(format_kit(kit_, compare_sides(*kit_.base, *kit_.candidate, 0.02)),
              HasSubstr("`timeline.html` shows both sides as two processes that start at 0"));
  kit_.base.reset();
  EXPECT_THAT(format_kit(kit_, compare_sides(nothing, *kit_.candidate, 0.02)),
              AllOf(HasSubstr("`timeline.html` shows the candidate as a process that starts at 0"),
                    HasSubstr("\nTimes of one iteration: candidate (medians of 2 iterations). The "
                              "base has no profile.\n\n| change")));
  kit_.base.swap(kit_.candidate);
  kit_.base->label = "base";
  EXPECT_THAT(format_kit(kit_, compare_sides(*kit_.base, nothing, 0.02)),
              AllOf(HasSubstr("`timeline.html` shows the base as a process that starts at 0"),
                    HasSubstr("\nTimes of one iteration: base (medians of 2 iterations). The "
                              "candidate has no profile.\n\n| change")));
  kit_.base.reset();
  EXPECT_THAT(format_kit(kit_, {}),
              AllOf(HasSubstr("\nThere is no profile. `samples.jsonl` contains every sample"),
                    Not(HasSubstr("timeline.html")), Not(HasSubstr("trace.json"))));
}

}  // namespace
}  // namespace bench
