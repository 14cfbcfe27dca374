// SPDX-License-Identifier: Apache-2.0
// The formats of `bench report` for other programs, and the table that they share.
#include "harness/judge/measurement.hpp"
#include "harness/report/format.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using test::occurrences;
using test::sample_run_report;
using test::split_lines;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr const char* kFirst = "gemm/forward/m16n8k8/f32/onednn/cpu/hot";

TEST(CaseColumns, NamesAreDistinctAndUnknownOnesGetAHint) {
  std::set<std::string_view> names;
  for (const CaseColumn& column : case_columns()) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_FALSE(column.help.empty());
  }
  const auto wrong = choose_case_columns({"case", "median"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().where, "--columns");
  EXPECT_THAT(wrong.error().next, HasSubstr("median_ns"));
}

// Sums had weights that no column showed.
TEST(CaseColumns, MultiplicityIsKnownOnlyIfItIsStated) {
  Report report = sample_run_report();
  report.cases[1].multiplicity = 312;
  RunView view{report};
  view.columns = *choose_case_columns({"multiplicity"});
  const auto lines = split_lines(run_markdown(view, {}));
  EXPECT_EQ(lines[4], "| n/a |");
  EXPECT_EQ(lines[5], "| 312 |");
}

TEST(SortCases, LargestFirstAndUnknownLast) {
  Report report = sample_run_report();
  ASSERT_TRUE(sort_cases("median_ns", report.cases).ok());
  EXPECT_EQ(report.cases.front().id, "gemm/forward/m128n8k8/f32/onednn/cpu/hot");
  EXPECT_FALSE(report.cases.back().time);
  ASSERT_TRUE(sort_cases("+median_ns", report.cases).ok());
  EXPECT_EQ(report.cases.front().id, "gemm/forward/m16n8k8/bf16/onednn/cpu/hot");
  EXPECT_FALSE(report.cases.back().time);
  EXPECT_EQ(sort_cases("size", report.cases).error().where, "--sort");
}

TEST(KeepTopCases, DropsTheRecordsOfTheOthers) {
  Report report = sample_run_report();
  keep_top_cases(2, report);
  EXPECT_THAT(report.cases, SizeIs(2));
  EXPECT_THAT(report.processes, SizeIs(10));
  keep_top_cases(0, report);
  EXPECT_THAT(report.cases, SizeIs(2));
}

TEST(RunMarkdown, StartsWithTheAnswerAndHasARowPerCase) {
  const Report report = sample_run_report();
  const auto lines = split_lines(run_markdown({report}, {}));
  EXPECT_EQ(lines[0], "**8 of 9 cases have a time: 1 wrong\\_result.**");
  EXPECT_EQ(lines[2],
            "| case | median | interval +- | FLOP/s | B/s | efficiency | bound | implementation "
            "| outcome |");
  EXPECT_EQ(lines[4],
            "| gemm/forward/m16n8k8/f32/onednn/cpu/hot | 32.00 us | 1.0 % | 125.00 MFLOP/s | "
            "31.25 MB/s | n/a | n/a | brg:avx512\\_core | ok |");
  EXPECT_EQ(lines.size(), 4 + report.cases.size());
}

TEST(RunCsv, IsLongUnlessWideIsRequested) {
  const Report report = sample_run_report();
  RunView view{report};
  view.columns = *choose_case_columns({"median_ns", "interval"});
  const auto lines = split_lines(run_csv(view, {}));
  EXPECT_EQ(lines[0], "case,op,direction,dtype,backend,device,cache,quantity,unit,value");
  EXPECT_EQ(lines[1],
            "\"gemm/forward/m16n8k8/f32/onednn/cpu/hot\",\"gemm\",\"forward\",\"f32\",\"onednn\","
            "\"cpu\",\"hot\",median_ns,ns,32000");
  EXPECT_EQ(lines.size(), 1 + 2 * 8U);
  view.rows = RunView::Rows::per_case;
  const auto wide = split_lines(run_csv(view, {}));
  EXPECT_THAT(wide[0], "median_ns,interval");
  EXPECT_THAT(wide[1], "32000,0.01");
  EXPECT_EQ(wide.back(), ",");
  EXPECT_EQ(wide.size(), 1 + report.cases.size());
}

TEST(RunJunit, AFailedCaseIsAFailureAndASkippedOneIsSkipped) {
  Report report = sample_run_report();
  report.cases[0].outcome = Outcome::skipped;
  report.cases[0].reason = "no CUDA device";
  report.cases[1].outcome = Outcome::crashed;
  const std::string text = run_junit({report}, {});
  EXPECT_THAT(text, HasSubstr("tests=\"9\" failures=\"1\" errors=\"1\" skipped=\"1\""));
  EXPECT_THAT(text, HasSubstr("<skipped type=\"skipped\" message=\"no CUDA device\">"));
  EXPECT_THAT(text, HasSubstr("<failure type=\"wrong_result\" "
                              "message=\"element 3 is 1, expected 2\">"));
  EXPECT_THAT(text, HasSubstr("classname=\"sweep.gemm\""));
  EXPECT_THAT(text, HasSubstr("file=\"configs/a.yaml\" line=\"7\""));
  EXPECT_EQ(occurrences(text, "<testcase "), report.cases.size());
}

TEST(RunGoogleBenchmark, IsReadBackByCompareWithOneRepetitionPerProcess) {
  const Report report = sample_run_report();
  const auto read = read_measurement(run_google_benchmark({report}, {}), "r.gbench.json");
  ASSERT_TRUE(read.ok()) << read.error().message();
  ASSERT_THAT(read->cases, SizeIs(9));
  EXPECT_EQ(read->cases[0].id, kFirst);
  EXPECT_THAT(iteration_times(read->cases[0].processes, &ProcessSummary::median),
              ElementsAre(32000, 32001, 32002, 32003, 32004));
  EXPECT_EQ(read->cases[8].outcome, Outcome::failed);
  EXPECT_EQ(read->cases[8].reason, "element 3 is 1, expected 2");
}

// A file may claim any number of iterations; their sum overflowed.
TEST(RunGoogleBenchmark, TheLargestNumberOfIterationsPerSampleDoesNotOverflow) {
  Report report = sample_run_report();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (ProcessRecord& process : report.processes) process.iterations_per_sample = kMost;
  const std::string text = run_google_benchmark({report}, {});
  EXPECT_THAT(text, HasSubstr(fmt::format("\"iterations\": {},", kMost)));
}

TEST(RunOpenMetrics, HasAGaugePerQuantityAndEndsAsTheFormatRequires) {
  const Report report = sample_run_report();
  const std::string text = run_open_metrics({report}, {});
  EXPECT_THAT(text, StartsWith("# HELP bench_cases "));
  EXPECT_THAT(text, HasSubstr("bench_cases{outcome=\"wrong_result\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("bench_case_seconds{case=\"" + std::string(kFirst) + "\"} 3.2e-05"));
  EXPECT_THAT(text, Not(HasSubstr("m9n9k9")));  // it has no time
  EXPECT_THAT(text, EndsWith("# EOF\n"));
}

TEST(RunFormats, HostileNamesBreakNoFormat) {
  Report report = sample_run_report();
  for (CaseRecord& record : report.cases) record.id += test::kHostile;
  const RunView view{report};
  EXPECT_THAT(run_markdown(view, {}), Not(HasSubstr("<b>")));
  EXPECT_THAT(run_junit(view, {}), Not(HasSubstr("<b>")));
  EXPECT_EQ(
      split_lines(run_csv({report, "", {}, 9, {&case_column("case")}, RunView::Rows::per_case}, {}))
          .size(),
      1 + report.cases.size());
  EXPECT_EQ(occurrences(run_open_metrics(view, {}), "\nbench_case_seconds{"), 8U);
}

TEST(GateFormats, EveryFormatOfAReportButTextHasAWriterForGates) {
  for (const ReportFormat& format : report_formats()) {
    if (format.name == "text") continue;
    EXPECT_NE(find_gate_format(format.name), nullptr) << format.name;
  }
  EXPECT_EQ(find_gate_format("gbench")->file, "candidate.gbench.json");
  EXPECT_EQ(find_gate_format("nothing"), nullptr);
}

}  // namespace
}  // namespace bench
