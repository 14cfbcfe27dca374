// SPDX-License-Identifier: Apache-2.0
#include "harness/store/baseline_file.hpp"

#include "harness/store/store.hpp"
#include "tests/fakes/baseline_records.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::baseline;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const StoreFile kPlace = BaselineStore::case_file(test::kStoredMachine, test::kStoredCase);

std::string file_of(const std::vector<BaselineRecord>& records) {
  std::string text;
  for (const BaselineRecord& record : records) text += to_json_line(record) + '\n';
  return text;
}

std::vector<std::string> runs_of(const BaselineHistory& history) {
  std::vector<std::string> runs;
  for (const BaselineRecord& record : history.records)
    runs.push_back(std::to_string(record.epoch) + " " + record.run_id);
  return runs;
}

// Regression test: runs used to be ordered by their times. A clock that jumped back to 1970 made a
// slowdown the first run of the history.
TEST(BaselineFileTest, RunsStandByEpochAndInTheOrderOfSavingWhateverTheClockSays) {
  const std::string text =
      file_of({baseline(9, 0, Nanoseconds(5)), baseline(2, 1, Nanoseconds(6)),
               baseline(3, 0, Nanoseconds(7)), baseline(1, 1, Nanoseconds(8))});
  const BaselineHistory history = parse_baseline_file(text, "x.jsonl", kPlace);
  EXPECT_THAT(history.problems, IsEmpty());
  EXPECT_THAT(runs_of(history), ElementsAre("0 run-09", "0 run-03", "1 run-02", "1 run-01"));
  EXPECT_EQ(history.last()->run_id, "run-01");
}

TEST(BaselineFileTest, AnAnchorThatIsAddedLaterDoesNotMoveTheRun) {
  BaselineRecord named = baseline(1, 0, Nanoseconds(5));
  named.anchor = "release-1.4";
  const BaselineHistory history = parse_baseline_file(
      file_of({baseline(1, 0, Nanoseconds(5)), baseline(2, 0, Nanoseconds(5)), named}), "x.jsonl",
      kPlace);
  EXPECT_THAT(runs_of(history), ElementsAre("0 run-01", "0 run-02"));
  EXPECT_EQ(history.records[0].anchor, "release-1.4");
}

// Git's union merge of two branches that both accepted the runs of a third one.
TEST(BaselineFileTest, ARunCountsOnce) {
  BaselineRecord moved = baseline(1, 1, Nanoseconds(5));
  BaselineRecord named = baseline(2, 0, Nanoseconds(5));
  named.anchor = "release-1.4";
  const std::string text =
      file_of({baseline(1, 0, Nanoseconds(5)), moved, baseline(1, 0, Nanoseconds(5)),
               baseline(2, 0, Nanoseconds(5)), named, baseline(2, 0, Nanoseconds(5))});
  const StoredLines lines = parse_baseline_lines(text, "x.jsonl", kPlace);
  EXPECT_EQ(lines.repeated, 4u);
  ASSERT_EQ(lines.lines.size(), 2u);
  EXPECT_EQ(lines.lines[0].record, named);
  EXPECT_EQ(lines.lines[1].record, moved);
  EXPECT_EQ(lines.lines[1].text, to_json_line(moved));
}

TEST(BaselineFileTest, ADamagedLineCostsItselfAndIsNamed) {
  const std::string good = to_json_line(baseline(1, 0, Nanoseconds(5)));
  const std::string other = to_json_line(baseline(2, 0, Nanoseconds(5)));
  const std::string text = good + "\n\n<<<<<<< HEAD\n" + good.substr(0, good.size() / 2) + "\n" +
                           other + "\n{\"schema\":\"bench.baseline/9\"}\n" + good.substr(0, 40);
  const BaselineHistory history = parse_baseline_file(text, "b/x.jsonl", kPlace);
  EXPECT_EQ(history.records.size(), 2u);
  EXPECT_THAT(history.problems,
              ElementsAre(StartsWith("b/x.jsonl:3: record refused: it is not valid JSON"),
                          StartsWith("b/x.jsonl:4: record refused: "),
                          AllOf(StartsWith("b/x.jsonl:6: "), HasSubstr("`bench.baseline/9`")),
                          StartsWith("b/x.jsonl:7: ")));
}

TEST(BaselineFileTest, ARecordOfAnotherCaseOrMachineIsRefused) {
  BaselineRecord other_case = baseline(2, 0, Nanoseconds(5));
  other_case.measured.id = "gemm/forward/m32n32k32/f32/onednn/cpu/hot";
  BaselineRecord other_machine = baseline(3, 0, Nanoseconds(5));
  other_machine.environment.machine_class = "other-4c-11111111";
  const std::string text = file_of({baseline(1, 0, Nanoseconds(5)), other_case, other_machine});
  for (const std::optional<StoreFile>& location :
       {std::optional(kPlace), std::optional<StoreFile>()}) {
    const BaselineHistory history = parse_baseline_file(text, "x.jsonl", location);
    EXPECT_EQ(history.records.size(), 1u);
    EXPECT_THAT(history.problems,
                ElementsAre(AllOf(StartsWith("x.jsonl:2: "), HasSubstr("m32n32k32")),
                            AllOf(StartsWith("x.jsonl:3: "), HasSubstr("other-4c-11111111"))));
  }
}

TEST(BaselineFileTest, ProblemsBringNoEscapeSequencesToATerminal) {
  BaselineRecord stranger = baseline(1, 0, Nanoseconds(5));
  stranger.measured.id = "a\x1b[31mb\n";
  const BaselineHistory history =
      parse_baseline_file(to_json_line(stranger) + "\n", "x.jsonl", kPlace);
  ASSERT_EQ(history.problems.size(), 1u);
  EXPECT_THAT(history.problems[0], HasSubstr("`a?[31mb "));
}

TEST(BaselineFileTest, ABinaryFileGivesFewProblems) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\x01\xff\n";
  const BaselineHistory history = parse_baseline_file(text, "x", std::nullopt);
  EXPECT_EQ(history.last(), nullptr);
  ASSERT_EQ(history.problems.size(), 21u);
  EXPECT_EQ(history.problems.back(), "x: 980 more lines refused");
}

TEST(BaselineFileTest, IsKnownByItsContent) {
  EXPECT_TRUE(is_baseline_file(file_of({baseline(1, 0, Nanoseconds(5))})));
  EXPECT_FALSE(is_baseline_file("{\"record\":\"run\",\"schema\":\"bench.result/1\"}\n"));
  EXPECT_FALSE(is_baseline_file(""));
}

}  // namespace
}  // namespace bench
