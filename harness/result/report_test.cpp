// SPDX-License-Identifier: Apache-2.0
#include "harness/result/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string run_line(const std::string& run_id) {
  RunRecord run;
  run.run_id = run_id;
  return to_json_line(run) + "\n";
}

std::string process_line(const std::string& run_id, const std::string& id, int number) {
  ProcessRecord process;
  process.run_id = run_id;
  process.id = id;
  process.process = number;
  process.samples = {Nanoseconds(100 + number)};
  return to_json_line(process) + "\n";
}

std::string case_line(const std::string& run_id, const std::string& id, Outcome outcome,
                      const std::string& detail = "") {
  CaseRecord record;
  record.run_id = run_id;
  record.id = id;
  record.outcome = outcome;
  if (outcome != Outcome::ok) record.reason = detail;
  if (outcome == Outcome::ok) record.check = detail;
  return to_json_line(record) + "\n";
}

std::string end_line(const std::string& run_id) {
  EndRecord end;
  end.run_id = run_id;
  return to_json_line(end) + "\n";
}

Report parse(const std::string& text) {
  auto report = parse_report(text, "r.jsonl");
  EXPECT_TRUE(report.ok()) << report.error().message();
  return report.ok() ? std::move(*report) : Report{};
}

TEST(ParseReport, AWholeRun) {
  const Report report = parse(run_line("r") + process_line("r", "a", 0) +
                              case_line("r", "a", Outcome::ok) + end_line("r"));
  EXPECT_THAT(report.runs, SizeIs(1));
  EXPECT_THAT(report.processes, SizeIs(1));
  EXPECT_THAT(report.cases, SizeIs(1));
  EXPECT_THAT(report.ends, SizeIs(1));
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_THAT(report.cases[0].flags, IsEmpty());
}

TEST(ParseReport, ATruncatedLastLineIsAWarning) {
  const std::string whole = run_line("r") + case_line("r", "a", Outcome::ok);
  const Report report = parse(whole + R"({"record":"case","run_id":"r","id":"b)");
  EXPECT_THAT(report.cases, SizeIs(1));
  EXPECT_THAT(report.warnings, ElementsAre("r.jsonl:3: incomplete last line ignored"));
}

TEST(ParseReport, ALastLineMayLackItsNewlineOnly) {
  std::string text = run_line("r") + end_line("r");
  text.pop_back();
  const Report report = parse(text);
  EXPECT_THAT(report.ends, SizeIs(1));
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(ParseReport, KilledAtAnyByteKeepsAllWholeRecords) {
  const std::string text =
      run_line("r") + process_line("r", "a", 0) + case_line("r", "a", Outcome::ok) + end_line("r");
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string prefix = text.substr(0, size);
    const auto report = parse_report(prefix, "r.jsonl");
    ASSERT_TRUE(report.ok()) << size << " " << report.error().message();
    const auto newlines = static_cast<std::size_t>(std::count(prefix.begin(), prefix.end(), '\n'));
    // Before its case record (line 3) is complete, the case is summarised from its process record.
    const std::size_t records = report->runs.size() + report->processes.size() +
                                (newlines >= 3 ? report->cases.size() : 0) + report->ends.size();
    EXPECT_GE(records, newlines);
    EXPECT_LE(report->warnings.size(), 1u);
  }
}

TEST(ParseReport, AMalformedLineIsSkipped) {
  const Report report = parse(run_line("r") + "{\"record\":\"case\"}\n" + "gibberish\n" +
                              case_line("r", "b", Outcome::ok));
  EXPECT_THAT(report.cases, SizeIs(1));
  EXPECT_THAT(report.warnings,
              ElementsAre("r.jsonl:2: malformed record ignored: `run_id` is missing",
                          "r.jsonl:3: malformed record ignored: it is not valid JSON"));
}

TEST(ParseReport, WarningsHaveALimit) {
  std::string text = run_line("r");
  for (int i = 0; i < 1'000; ++i) text += "gibberish\n";
  const Report report = parse(text);
  EXPECT_THAT(report.warnings, SizeIs(21));
  EXPECT_EQ(report.warnings.back(), "r.jsonl: 980 more warnings");
}

TEST(ParseReport, BlankLinesAndOtherLineEnds) {
  std::string line = run_line("r");
  line.insert(line.size() - 1, "\r");
  const Report report = parse("\n  \n" + line + "\r\n");
  EXPECT_THAT(report.runs, SizeIs(1));
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(ParseReport, AnotherSchemaIsAnError) {
  std::string text = run_line("r");
  text.replace(text.find("result/1"), 8, "result/2");
  const auto report = parse_report(text, "r.jsonl");
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message(),
            "r.jsonl:1: schema `bench.result/2`, expected `bench.result/1`; read it with the "
            "version of bench that wrote it");
  EXPECT_FALSE(parse_report(run_line("q") + text, "r.jsonl").ok());
}

TEST(ParseReport, FilesThatAreNoResults) {
  for (const char* text : {"version: 1\ncases: []\n", "{\"benchmarks\": []}", "{}\n", "[]", "x",
                           "{\"record\":\"activity\"}\n"}) {
    const auto report = parse_report(text, "other");
    ASSERT_FALSE(report.ok()) << text;
    EXPECT_EQ(
        report.error().message(),
        "other: not a result file: it contains no run record; name a file that `bench run` wrote");
  }
}

TEST(ParseReport, AnEmptyFileAndOneKilledInItsFirstRecordHoldNothing) {
  EXPECT_THAT(parse("").cases, IsEmpty());
  EXPECT_THAT(parse("").warnings, IsEmpty());
  EXPECT_THAT(parse("{\"rec").warnings, ElementsAre("r.jsonl:1: incomplete last line ignored"));
}

TEST(ParseReport, MissingRunRecordIsAWarning) {
  const Report report = parse(case_line("r", "a", Outcome::ok));
  EXPECT_THAT(report.cases, SizeIs(1));
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("no run record")));
}

TEST(ParseReport, OtherRecordsAreKeptOutSilently) {
  const Report report = parse(
      run_line("r") + "{\"record\":\"activity\",\"run_id\":\"r\",\"name\":\"convolution\"}\n" +
      "{\"record\":\"canary\",\"run_id\":\"r\",\"moment\":\"before\"}\n");  // in older files
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(ParseReport, ConcatenatedShards) {
  const Report report = parse(run_line("s1") + case_line("s1", "a", Outcome::ok) + end_line("s1") +
                              run_line("s2") + case_line("s2", "b", Outcome::ok) + end_line("s2"));
  EXPECT_THAT(report.runs, SizeIs(2));
  ASSERT_THAT(report.cases, SizeIs(2));
  EXPECT_EQ(report.cases[0].id, "a");
  EXPECT_EQ(report.cases[1].id, "b");
}

TEST(ParseReport, AShardAfterATruncatedOneLosesNothing) {
  for (const std::string incomplete_line :
       {R"({"record":"process","run_id":"s1","id)", R"({"reco)", R"({"record":"case","id":"{)"}) {
    const Report report = parse(run_line("s1") + incomplete_line + run_line("s2") +
                                case_line("s2", "b", Outcome::ok));
    EXPECT_THAT(report.runs, SizeIs(2)) << incomplete_line;
    EXPECT_THAT(report.cases, SizeIs(1));
    EXPECT_THAT(report.warnings,
                ElementsAre("r.jsonl:2: incomplete record before another one ignored"));
  }
}

TEST(ParseReport, LastOkRecordOfACaseWins) {
  const std::string run = run_line("r");
  const auto only = [&](const std::string& lines) {
    const Report report = parse(run + lines);
    EXPECT_THAT(report.cases, SizeIs(1));
    return report.cases[0];
  };
  const std::string ok1 = case_line("r", "a", Outcome::ok, "first");
  const std::string ok2 = case_line("r", "a", Outcome::ok, "second");
  const std::string crashed = case_line("r", "a", Outcome::crashed, "signal 11");
  const std::string failed = case_line("r", "a", Outcome::failed, "no memory");
  EXPECT_EQ(only(ok1 + ok2).check, "second");
  EXPECT_EQ(only(crashed + ok1).check, "first");
  EXPECT_EQ(only(ok1 + crashed).check, "first");
  EXPECT_EQ(only(ok1 + crashed + ok2 + failed).check, "second");
  EXPECT_EQ(only(crashed + failed).reason, "no memory");
}

TEST(ParseReport, CasesStandInOrderOfFirstAppearance) {
  const Report report = parse(run_line("r") + case_line("r", "b", Outcome::crashed, "x") +
                              case_line("r", "a", Outcome::ok) + case_line("r", "b", Outcome::ok));
  ASSERT_THAT(report.cases, SizeIs(2));
  EXPECT_EQ(report.cases[0].id, "b");
  EXPECT_EQ(report.cases[0].outcome, Outcome::ok);
}

TEST(ParseReport, MutatedFilesNeverCrash) {
  const std::string good =
      run_line("r") + process_line("r", "a", 0) + case_line("r", "a", Outcome::ok) + end_line("r");
  std::mt19937 random(5);
  for (int i = 0; i < 5'000; ++i) {
    std::string text = good;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t place = random() % text.size();
      text[place] = static_cast<char>(random());
      if (random() % 2 == 0) text.erase(place, random() % 20);
    }
    const auto report = parse_report(text, "r");
    if (report.ok()) {
      EXPECT_LE(report->cases.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace bench
