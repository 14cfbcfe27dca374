// SPDX-License-Identifier: Apache-2.0
#include "harness/report/comparison_text.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace bench {
namespace {

using test::baseline;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

class VersusBaselineTest : public testing::Test {
 protected:
  void append(const BaselineRecord& record) {
    ASSERT_TRUE(store_.append(record, EpochPolicy::current).ok());
  }
  test::TemporaryFolder folder_;
  BaselineStore store_{folder_.file("baselines")};
};

// A run of one case; all processes have the same time.
Report run_of(std::int64_t nanoseconds, int processes) {
  Report report;
  report.runs = {test::sample_run("now")};
  report.cases = {test::sample_case("now")};
  for (int number = 0; number < processes; ++number) {
    report.processes.push_back(
        test::sample_process("now", test::kStoredCase, number, {Nanoseconds(nanoseconds)}));
  }
  return report;
}

TEST_F(VersusBaselineTest, IsTheRatioToTheLastRunWithItsInterval) {
  append(baseline(1, 0, Nanoseconds(200)));
  append(baseline(2, 0, Nanoseconds(1000)));
  const VersusBaseline versus = versus_baseline(run_of(1030, 5), store_);
  EXPECT_THAT(versus.cells, ElementsAre(Pair(test::kStoredCase, "+3.0% [+2.7%, +3.3%]")));
  EXPECT_THAT(versus.notes, IsEmpty());
  EXPECT_THAT(versus_baseline(run_of(995, 2), store_).cells,
              ElementsAre(Pair(test::kStoredCase, "-0.50%")));
}

TEST_F(VersusBaselineTest, NamesWhatDiffers) {
  append(baseline(1, 0, Nanoseconds(1000)));
  Report other = run_of(1000, 5);
  other.cases[0].case_hash = "fedcba9876543210";
  const VersusBaseline hash = versus_baseline(other, store_);
  EXPECT_THAT(hash.cells, ElementsAre(Pair(test::kStoredCase, "incomparable")));
  EXPECT_THAT(hash.notes, ElementsAre(AllOf(StartsWith("vs baseline, 1 case: incomparable: "),
                                            HasSubstr("case_hash differs"))));
  Report under = run_of(1000, 5);
  under.runs[0].under = "perf";
  EXPECT_THAT(versus_baseline(under, store_).notes, ElementsAre(HasSubstr("`perf`")));
  Report elsewhere = run_of(1000, 5);
  elsewhere.runs[0].environment.machine_class = "other-4c";
  const VersusBaseline machine = versus_baseline(elsewhere, store_);
  EXPECT_THAT(machine.cells, IsEmpty());  // no case can be compared, so there is no column
  EXPECT_THAT(
      machine.notes,
      ElementsAre(AllOf(HasSubstr("other-4c"), HasSubstr("only of test-2c-00000000"),
                        HasSubstr("test-2c-00000000 differs in: compiler or flags"),
                        HasSubstr("`bench baseline adopt test-2c-00000000` adopts its runs"))));
}

// A resumed run may be in the store already.
TEST_F(VersusBaselineTest, ARunIsNotComparedWithItself) {
  append(baseline(1, 0, Nanoseconds(1000)));
  BaselineRecord same = baseline(2, 0, Nanoseconds(1030));
  same.run_id = "now";
  append(same);
  const VersusBaseline versus = versus_baseline(run_of(1030, 5), store_);
  EXPECT_THAT(versus.cells, ElementsAre(Pair(test::kStoredCase, "+3.0% [+2.7%, +3.3%]")));
  EXPECT_THAT(versus.notes, ElementsAre("vs baseline: run now is in the store itself: the last "
                                        "other run of each case is compared with it"));
}

TEST_F(VersusBaselineTest, OneNoteForAllCasesWithTheSameReason) {
  append(baseline(1, 0, Nanoseconds(1000)));
  Report report = run_of(1000, 5);
  for (const char* id : {"a/b", "c/d", "e/f"}) {
    CaseRecord record = report.cases[0];
    record.id = id;
    record.time = TimeSummary{
        Nanoseconds(5), Nanoseconds(5), Nanoseconds(5), Nanoseconds(5), Nanoseconds(5), {}, {}, {}};
    if (record.id == "e/f") record.outcome = Outcome::crashed;
    report.cases.push_back(record);
  }
  const VersusBaseline versus = versus_baseline(report, store_);
  EXPECT_THAT(versus.cells,
              UnorderedElementsAre(Pair(test::kStoredCase, StartsWith("+0.00%")),
                                   Pair("a/b", "no baseline"), Pair("c/d", "no baseline")));
  EXPECT_THAT(versus.notes, ElementsAre(StartsWith("vs baseline, 2 cases: no baseline: ")));
}

TEST_F(VersusBaselineTest, ADamagedStoreIsNamedByLine) {
  append(baseline(1, 0, Nanoseconds(1000)));
  const std::string path =
      store_.file_path(BaselineStore::case_file(test::kStoredMachine, test::kStoredCase));
  std::ofstream(path, std::ios::app) << "rubbish\n";
  const VersusBaseline some = versus_baseline(run_of(1000, 5), store_);
  EXPECT_THAT(some.cells, ElementsAre(Pair(test::kStoredCase, StartsWith("+0.00%"))));
  EXPECT_THAT(some.notes, ElementsAre(StartsWith(path + ":2: ")));
  std::ofstream(path) << "{\"schema\":\"bench.baseline/2\"}\n";
  const VersusBaseline none = versus_baseline(run_of(1000, 5), store_);
  EXPECT_THAT(none.cells, ElementsAre(Pair(test::kStoredCase, "incomparable")));
  EXPECT_THAT(none.notes,
              ElementsAre(AllOf(HasSubstr(path + ":1: "), HasSubstr("bench.baseline/2"))));
}

}  // namespace
}  // namespace bench
