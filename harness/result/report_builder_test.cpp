// SPDX-License-Identifier: Apache-2.0
#include "harness/result/report_builder.hpp"

#include "harness/result/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kId = "conv/forward/c64h56w56k64r3s3p1/f32/onednn/cpu/hot";

// Builds the lines of a result file one after another.
class Lines {
 public:
  Lines& run(const std::string& run_id, std::optional<std::string> resumes = {}) {
    RunRecord record;
    record.run_id = run_id;
    record.resumes = std::move(resumes);
    return add(record);
  }
  Lines& process(const std::string& run_id, int number, std::int64_t nanoseconds) {
    ProcessRecord record;
    record.run_id = run_id;
    record.id = kId;
    record.process = number;
    record.samples = {Nanoseconds(nanoseconds)};
    record.implementation = "brgconv:avx512_core";
    return add(record);
  }
  Lines& result(const std::string& run_id, Outcome outcome) {
    CaseRecord record;
    record.run_id = run_id;
    record.id = kId;
    record.outcome = outcome;
    return add(record);
  }
  CaseRecord only_case() const {
    const auto report = parse_report(text_, "r");
    EXPECT_TRUE(report.ok());
    EXPECT_THAT(report->cases, SizeIs(1));
    return report->cases.at(0);
  }
  Lines& pass(const std::string& run_id, Outcome outcome) {
    ProfilePassRecord record;
    record.run_id = run_id;
    record.id = kId;
    record.outcome = outcome;
    return add(record);
  }
  Lines& end(const std::string& run_id) {
    EndRecord record;
    record.run_id = run_id;
    return add(record);
  }
  const std::string& text() const { return text_; }
  Report report() const { return *parse_report(text_, "r"); }

 private:
  Lines& add(const Record& record) {
    text_ += to_json_line(record) + "\n";
    return *this;
  }
  std::string text_;
};

TEST(InterruptedCase, IsMadeOfItsProcesses) {
  const CaseRecord record =
      Lines().run("r").process("r", 0, 30).process("r", 1, 10).process("r", 2, 20).only_case();
  EXPECT_EQ(record.outcome, Outcome::ok);
  EXPECT_THAT(record.flags, ElementsAre(Flag::interrupted));
  EXPECT_EQ(record.run_id, "r");
  EXPECT_EQ(record.op, "conv");
  EXPECT_EQ(record.direction, "forward");
  EXPECT_EQ(record.dtype, "f32");
  EXPECT_EQ(record.backend, "onednn");
  EXPECT_EQ(record.device, "cpu");
  EXPECT_EQ(record.implementation, "brgconv:avx512_core");
  ASSERT_TRUE(record.time);
  EXPECT_EQ(record.time->median, Nanoseconds(20));
  EXPECT_EQ(record.time->min, Nanoseconds(10));
  EXPECT_FALSE(record.time->low);
}

TEST(InterruptedCase, ResumedRunsAddTheirProcesses) {
  const CaseRecord record = Lines()
                                .run("a")
                                .process("a", 0, 10)
                                .process("a", 1, 20)
                                .run("b", "a")
                                .process("b", 2, 30)
                                .only_case();
  EXPECT_EQ(record.run_id, "b");
  EXPECT_EQ(record.time->median, Nanoseconds(20));
}

TEST(InterruptedCase, TheLastOfSeveralRecordsWithOneProcessNumberCounts) {
  const CaseRecord record =
      Lines().run("a").process("a", 0, 10).run("b", "a").process("b", 0, 50).only_case();
  EXPECT_EQ(record.time->median, Nanoseconds(50));
  EXPECT_EQ(record.time->min, Nanoseconds(50));
}

TEST(InterruptedCase, UnrelatedRunsAreNotMixed) {
  const CaseRecord record =
      Lines().run("a").process("a", 0, 10).run("b").process("b", 1, 50).only_case();
  EXPECT_EQ(record.time->min, Nanoseconds(50));
}

TEST(InterruptedCase, NeverReplacesAnOk) {
  const CaseRecord record = Lines()
                                .run("a")
                                .process("a", 0, 10)
                                .result("a", Outcome::ok)
                                .run("b")
                                .process("b", 0, 50)
                                .only_case();
  EXPECT_EQ(record.run_id, "a");
  EXPECT_THAT(record.flags, IsEmpty());
}

TEST(InterruptedCase, AFailureStaysUnlessItWasMeasuredAfterwards) {
  EXPECT_EQ(Lines().run("a").process("a", 0, 10).result("a", Outcome::crashed).only_case().outcome,
            Outcome::crashed);
  const CaseRecord again = Lines()
                               .run("a")
                               .process("a", 0, 10)
                               .result("a", Outcome::crashed)
                               .run("b", "a")
                               .process("b", 1, 50)
                               .only_case();
  EXPECT_EQ(again.outcome, Outcome::ok);
  EXPECT_THAT(again.flags, ElementsAre(Flag::interrupted));
}

TEST(ReportBuilder, KeepsItsRecordsUntilItIsMoved) {
  ReportBuilder builder =
      parse_records(Lines().run("a").process("a", 0, 10).result("a", Outcome::ok).text(), "r")
          .value();
  const Report copy = builder.report();
  EXPECT_THAT(copy.processes, SizeIs(1));
  const Report again = builder.report();
  EXPECT_EQ(again.cases, copy.cases);
  EXPECT_EQ(again.processes, copy.processes);
  const Report moved = std::move(builder).report();
  EXPECT_EQ(moved.cases, copy.cases);
  EXPECT_EQ(moved.processes, copy.processes);
}

TEST(InterruptedCase, NothingIsMadeOfProcessesWithoutSamples) {
  ProcessRecord process;
  process.run_id = "r";
  process.id = kId;
  const auto report = parse_report(Lines().run("r").text() + to_json_line(process) + "\n", "r");
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->cases, IsEmpty());
}

TEST(InterruptedCase, RunsThatResumeThemselvesEndTheirChain) {
  const CaseRecord record = Lines()
                                .run("a", "b")
                                .run("b", "a")
                                .run("c", "c")
                                .process("a", 0, 10)
                                .process("b", 1, 20)
                                .only_case();
  EXPECT_EQ(record.time->max, Nanoseconds(20));
  EXPECT_EQ(record.time->min, Nanoseconds(10));
}

TEST(CountedRecords, AFileThatIsConcatenatedWithItselfCountsOnce) {
  Lines lines;
  for (int copy = 0; copy < 2; ++copy) {
    lines.run("a").process("a", 0, 10).process("a", 1, 20).result("a", Outcome::ok);
    lines.pass("a", Outcome::ok).end("a");
  }
  const Report report = lines.report();
  EXPECT_THAT(report.runs, SizeIs(1));
  EXPECT_THAT(report.processes, SizeIs(2));
  EXPECT_THAT(report.cases, SizeIs(1));
  EXPECT_THAT(report.profile_passes, SizeIs(1));
  EXPECT_THAT(report.ends, SizeIs(1));
}

TEST(CountedRecords, ProcessesOfAnotherRunOfTheCaseDoNotCount) {
  const Report report = Lines()
                            .run("a")
                            .process("a", 0, 10)
                            .process("a", 1, 20)
                            .result("a", Outcome::ok)
                            .run("b")
                            .process("b", 0, 30)
                            .result("b", Outcome::crashed)
                            .report();
  EXPECT_THAT(report.runs, SizeIs(2));
  ASSERT_THAT(report.processes, SizeIs(2));
  EXPECT_EQ(report.processes[0].run_id, "a");  // the last `ok` counts
  EXPECT_EQ(report.processes[1].run_id, "a");
}

TEST(CountedRecords, ProcessesOfResumedRunsCount) {
  const Report report = Lines()
                            .run("a")
                            .process("a", 0, 10)
                            .run("b", "a")
                            .process("b", 1, 20)
                            .result("b", Outcome::ok)
                            .report();
  EXPECT_THAT(report.processes, SizeIs(2));
}

TEST(CountedRecords, AProcessWithoutSamplesDoesNotReplaceItsEarlierRecord) {
  ProcessRecord empty;
  empty.run_id = "a";
  empty.id = kId;
  const std::string text = Lines().run("a").process("a", 0, 10).result("a", Outcome::ok).text() +
                           to_json_line(empty) + "\n";
  const Report report = *parse_report(text, "r");
  ASSERT_THAT(report.processes, SizeIs(1));
  EXPECT_THAT(report.processes[0].samples, ElementsAre(Nanoseconds(10)));
}

TEST(CountedRecords, OfSeveralPassesTheLastOkCounts) {
  const Report report = Lines()
                            .run("a")
                            .result("a", Outcome::ok)
                            .pass("a", Outcome::ok)
                            .run("b")
                            .pass("b", Outcome::ok)
                            .run("c")
                            .pass("c", Outcome::timed_out)
                            .report();
  ASSERT_THAT(report.profile_passes, SizeIs(1));
  EXPECT_EQ(report.profile_passes[0].run_id, "b");
}

}  // namespace
}  // namespace bench
