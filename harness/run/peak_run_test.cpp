// SPDX-License-Identifier: Apache-2.0
#include "harness/run/peak_run.hpp"

#include "tests/fakes/fake_clock.hpp"
#include "tests/fakes/plans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kRead = "peak/forward/read-b65536/f32/native/cpu/hot";
constexpr const char* kCopy = "peak/forward/copy-b131072/f32/native/cpu/hot";

class PeakPassesTest : public testing::Test {
 protected:
  // Each part takes `time`.
  Result<PeakPasses> measure(int passes, Nanoseconds limit, Nanoseconds time) {
    return measure_in_passes(
        groups_, {passes, limit},
        [&](const Plan& group, Nanoseconds rest) -> Result<PeakPart> {
          measured_.push_back(group.cases.front().id);
          limits_.push_back(rest);
          clock_.advance(time);
          PeakPart part;
          part.summary.cases = std::ssize(group.cases);
          part.summary.stopped_by = stop_;
          return part;
        },
        clock_);
  }

  test::FakeClock clock_;
  std::vector<std::string> first_ = {kRead};
  std::vector<Plan> groups_ =
      group_by_value(test::make_plan({test::make_case(kCopy), test::make_case(kRead)}), first_);
  std::vector<std::string> measured_;
  std::vector<Nanoseconds> limits_;
  std::optional<StopCause> stop_;
};

// One moment of a busy machine gave a ceiling that was 1.63 times too low.
TEST_F(PeakPassesTest, EachCeilingIsMeasuredInSeveralMoments) {
  const auto passes = measure(2, 60s, 10s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead, kCopy, kRead, kCopy));
  EXPECT_THAT(limits_, ElementsAre(60s, 50s, 40s, 30s));
  EXPECT_EQ(passes->first.size(), 2U);
  EXPECT_EQ(passes->repeated.size(), 2U);
  EXPECT_THAT(passes->unreached, IsEmpty());
  EXPECT_EQ(join_first_pass(*passes).summary.stopped_by, std::nullopt);
}

TEST_F(PeakPassesTest, TheEndOfTheTimeCostsTheLeastValuableOnes) {
  const auto passes = measure(3, 10s, 11s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead));
  EXPECT_THAT(passes->unreached, ElementsAre(kCopy));
  const PeakPart all = join_first_pass(*passes);
  EXPECT_EQ(all.summary.stopped_by, StopCause::budget);
  EXPECT_TRUE(all.summary.any_unmeasured);
  EXPECT_EQ(
      format_stop(all.summary),
      "stopped by the budget: 1 of 2 cases has fewer processes than asked for, 1 of them none");
}

TEST_F(PeakPassesTest, TheEndOfTheTimeInALaterPassLeavesNothingUnmeasured) {
  const auto passes = measure(3, 25s, 9s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead, kCopy, kRead));
  const PeakPart all = join_first_pass(*passes);
  EXPECT_FALSE(all.summary.any_unmeasured);
  EXPECT_EQ(format_stop(all.summary), "");
}

TEST_F(PeakPassesTest, AnInterruptionEndsAllPasses) {
  stop_ = StopCause::interruption;
  const auto passes = measure(3, 60s, 1s);
  ASSERT_TRUE(passes.ok());
  EXPECT_THAT(measured_, ElementsAre(kRead));
  EXPECT_EQ(join_first_pass(*passes).summary.stopped_by, StopCause::interruption);
}

PeakRecord peak_of(const std::string& name, int threads, CeilingValue value) {
  PeakRecord record;
  record.id = name + "/t" + std::to_string(threads);
  record.ceiling = {name, "", threads, value};
  record.low = record.high = value;
  return record;
}

std::vector<PeakRecord> disturbed_peaks() {
  return {peak_of("read", 1, BytesPerSecond{22.5e9}), peak_of("read", 2, BytesPerSecond{17.9e9}),
          peak_of("fma", 1, FlopsPerSecond{100e9}),   peak_of("fma", 2, FlopsPerSecond{190e9}),
          peak_of("dispatch", 1, Nanoseconds(300)),   peak_of("dispatch", 2, Nanoseconds(200))};
}

// Earlier, memory had 17.9 GB/s on two threads and 22.5 GB/s on one; later cases reached 149 %.
TEST(PeakRecords, ACeilingOfAllThreadsIsNotBelowThatOfOneThread) {
  std::vector<PeakRecord> records = disturbed_peaks();
  EXPECT_THAT(cases_slower_with_all_threads(records), ElementsAre("read/t1", "read/t2"));
  const auto raised = raise_to_one_thread(records);
  EXPECT_THAT(raised, ElementsAre(RaisedCeiling{{"read", "", 2, BytesPerSecond{17.9e9}},
                                                BytesPerSecond{22.5e9}}));
  EXPECT_EQ(records[1].ceiling.value, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_EQ(records[1].low, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_THAT(cases_slower_with_all_threads(records), IsEmpty());
  EXPECT_THAT(raise_to_one_thread(records), IsEmpty());
}

TEST(PeakRecords, OfTwoMeasurementsTheBetterOneCounts) {
  std::vector<PeakRecord> records = disturbed_peaks();
  keep_better({peak_of("read", 1, BytesPerSecond{21e9}), peak_of("read", 2, BytesPerSecond{30e9}),
               peak_of("dispatch", 1, Nanoseconds(250)), peak_of("dispatch", 2, Nanoseconds(400)),
               peak_of("triad", 1, BytesPerSecond{1})},
              records);
  ASSERT_EQ(records.size(), 6U);
  EXPECT_EQ(records[0].ceiling.value, CeilingValue(BytesPerSecond{22.5e9}));
  EXPECT_EQ(records[1].ceiling.value, CeilingValue(BytesPerSecond{30e9}));
  EXPECT_EQ(records[4].ceiling.value, CeilingValue(Nanoseconds(250)));
  EXPECT_EQ(records[5].ceiling.value, CeilingValue(Nanoseconds(200)));
  EXPECT_THAT(cases_slower_with_all_threads(records), IsEmpty());
}

// Executes cases whose times are given.
class PeakRunTest : public testing::Test {
 protected:
  PeakRunTest() {
    plan_ = test::make_plan({});
    for (const int threads : {1, 2}) {
      plan_.cases.push_back(test::make_case(std::string(kRead) + "/t" + std::to_string(threads)));
      cases_.push_back({plan_.cases.back().id, "read", "dram", threads});
    }
  }
  PeakPart run_part(const Plan& part) {
    ++parts_;
    PeakPart result;
    result.summary.cases = std::ssize(part.cases);
    result.report.runs.emplace_back();
    for (const Case& spec : part.cases) {
      CaseRecord& record = result.report.cases.emplace_back();
      record.id = spec.id;
      const Nanoseconds time = times_.at(spec.id).at(parts_ - 1);
      record.time.emplace();
      record.time->q25 = record.time->median = record.time->q75 = time;
      record.work.emplace();
      record.work->bytes_read = 1000;
    }
    return result;
  }
  Result<PeakRun> measure(Nanoseconds limit) {
    return measure_peaks(
        plan_, cases_, {}, {2, limit},
        [&](const Plan& part, Nanoseconds) -> Result<PeakPart> { return run_part(part); }, clock_);
  }

  test::FakeClock clock_;
  Plan plan_;
  std::vector<PeakCase> cases_;
  std::map<std::string, std::vector<Nanoseconds>> times_;
  std::size_t parts_ = 0;
};

TEST_F(PeakRunTest, WhatIsSlowerWithAllThreadsIsMeasuredAgain) {
  times_ = {{cases_[0].id, {10ns, 12ns, 12ns}}, {cases_[1].id, {14ns, 13ns, 5ns}}};
  const auto run = measure(60s);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(parts_, 3U);
  ASSERT_EQ(run->records.size(), 2U);
  EXPECT_EQ(run->records[0].ceiling.value, CeilingValue(BytesPerSecond{1e11}));
  EXPECT_EQ(run->records[1].ceiling.value, CeilingValue(BytesPerSecond{2e11}));
  EXPECT_THAT(run->raised, IsEmpty());
}

TEST_F(PeakRunTest, WithoutTimeForThatItGetsTheValueOfOneThread) {
  times_ = {{cases_[0].id, {10ns, 12ns}}, {cases_[1].id, {14ns, 13ns}}};
  const auto run = measure(2s);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(parts_, 1U);
  ASSERT_EQ(run->raised.size(), 1U);
  EXPECT_EQ(run->records[1].ceiling.value, CeilingValue(BytesPerSecond{1e11}));
}

}  // namespace
}  // namespace bench
