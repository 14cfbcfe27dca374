// SPDX-License-Identifier: Apache-2.0
// `bench report` as a user calls it, over result files with known times that the tests create.
#include "harness/store/baseline_file.hpp"
#include "profiler/activity_json.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench::test::report_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ReportCommand : public testing::Test {
 protected:
  ReportCommand() {
    const Report report = sample_run_report();
    std::string text;
    for (const RunRecord& run : report.runs) text += to_json_line(run) + "\n";
    for (const ProcessRecord& process : report.processes) text += to_json_line(process) + "\n";
    for (const CaseRecord& record : report.cases) text += to_json_line(record) + "\n";
    folder_.write("r.jsonl", text);
  }

  ProgramResult report(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {BENCH_BINARY, "report"});
    return run_program({std::move(arguments), folder_.path(), {}});
  }

  // Writes the evidence of a gate with one case that the candidate made slower.
  void write_gate(const std::string& name) const {
    const GateFile gate = sample_gate();
    std::string text = to_json_line(sample_run("run1")) + "\n";
    text += gate_line(gate.facts, gate.evidence) + "\n";
    for (const CaseAssessment& judgement : gate.judgements) {
      text += verdict_line(gate.facts.run_id, judgement) + "\n";
    }
    folder_.write(name, text + gate_end_line(gate.facts.run_id, std::nullopt) + "\n");
  }

  TemporaryFolder folder_;
};

// It showed twice as many repetitions and processes.
TEST_F(ReportCommand, AFileThatIsGivenTwiceIsReportedAsOnce) {
  for (const char* format : {"text", "md", "csv", "xml", "json", "gbench", "prom"}) {
    const ProgramResult once = report({"r.jsonl", "--format", format});
    const ProgramResult twice = report({"r.jsonl", "r.jsonl", "--format", format});
    EXPECT_EQ(once.status, 0) << once.err;
    EXPECT_EQ(twice.out, once.out) << format;
  }
}

TEST_F(ReportCommand, TheSuffixSelectsTheFormat) {
  const std::vector<std::pair<std::string, std::string>> beginnings = {
      {"r.html", "<!DOCTYPE html>"},
      {"r.md", "**8 of 9 cases have a time"},
      {"r.csv", "case,op,direction,"},
      {"r.xml", "<?xml version=\"1.0\""},
      {"r.json", "{"},
      {"r.gbench.json", "{\n \"context\""},
      {"r.prom", "# HELP bench_cases"},
      {"r.txt", "Measured 8 of 9 cases"}};
  for (const auto& [name, beginning] : beginnings) {
    const ProgramResult result = report({"r.jsonl", "-o", name});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(read_text(folder_.file(name)), StartsWith(beginning)) << name;
    EXPECT_EQ(result.err, "bench report: 9 cases in " + name + "\n");
  }
  EXPECT_THAT(report({"r.jsonl", "-o", "r.pdf"}).err, HasSubstr("add --format NAME"));
  EXPECT_THAT(report({"r.jsonl", "-o", "r.md"}).err, HasSubstr("--force"));
}

TEST_F(ReportCommand, RefusesAnExistingFileBeforeItReadsTheResults) {
  folder_.write("page.html", "mine");
  const ProgramResult refused = report({"missing.jsonl", "-o", "page.html"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("page.html: the file exists already"));
  EXPECT_THAT(refused.err, Not(HasSubstr("missing.jsonl")));
  EXPECT_EQ(read_text(folder_.file("page.html")), "mine");
  EXPECT_THAT(report({"missing.jsonl", "-o", "page.html", "--force"}).err,
              HasSubstr("missing.jsonl"));
}

TEST_F(ReportCommand, FiltersThenSortsThenCutsAndShowsTheColumns) {
  const ProgramResult result = report({"r.jsonl", "--filter", "*/bf16/*", "--sort", "median_ns",
                                       "--top", "2", "--columns", "case,median_ns"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out,
            "case                                         median\n"
            "gemm/forward/m128n8k8/bf16/onednn/cpu/hot  128.0 us\n"
            "gemm/forward/m64n8k8/bf16/onednn/cpu/hot   64.00 us\n");
}

TEST_F(ReportCommand, RefusesWhatItWouldHaveToIgnore) {
  EXPECT_THAT(report({"r.jsonl", "--columns", "median"}).err,
              HasSubstr("--columns: unknown column `median`; did you mean `median_ns`?"));
  EXPECT_THAT(report({"r.jsonl", "--sort", "speed"}).err, HasSubstr("--sort: unknown column"));
  EXPECT_THAT(report({"r.jsonl", "--filter", "pool/*"}).err,
              HasSubstr("no case of the report matches"));
  EXPECT_THAT(report({"r.jsonl", "--format", "xml", "--columns", "case"}).err,
              HasSubstr("has no columns to choose"));
  EXPECT_THAT(report({"r.jsonl", "--format", "md", "--wide"}).err, HasSubstr("--format csv"));
  EXPECT_EQ(report({"r.jsonl", "--format", "pdf"}).status, 2);
}

TEST_F(ReportCommand, WritesEachPlotAsAFileAndNamesThoseWithoutData) {
  const ProgramResult result = report({"r.jsonl", "-o", "r.html", "--plots", "plots"});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* name :
       {"cases", "roofline", "samples", "sweep-gemm-m-time", "sweep-gemm-m-rate"}) {
    EXPECT_THAT(read_text(folder_.file(std::string("plots/") + name + ".svg")),
                AllOf(StartsWith("<?xml"), HasSubstr("</svg>")))
        << name;
  }
  EXPECT_THAT(result.err, HasSubstr("5 plots in plots"));
}

// Regression test: there used to be a page with 0 cases and exit status 0.
TEST_F(ReportCommand, AFolderThatIsNotAStoreIsRefused) {
  std::filesystem::create_directories(folder_.file("configs"));
  std::filesystem::create_directories(folder_.file("empty"));
  folder_.write("configs/a.yaml", "version: 1\n");
  for (const char* folder : {"configs", "empty"}) {
    const ProgramResult page = report({folder, "-o", "store.html"});
    EXPECT_EQ(page.status, 2) << folder;
    EXPECT_THAT(page.err, HasSubstr("name a result file, the folder of a gate, or a store"));
    EXPECT_EQ(report({folder}).err, page.err);
  }
  EXPECT_THAT(report({"configs"}).err,
              StartsWith("bench report: configs: is not a store of baselines: it contains "));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("store.html")));
}

TEST_F(ReportCommand, AGateGetsItsOwnReportByFileAndByFolder) {
  std::filesystem::create_directory(folder_.file("gate"));
  write_gate("gate/gate.jsonl");
  const ProgramResult page = report({"gate", "-o", "gate.html"});
  EXPECT_EQ(page.status, 0) << page.err;
  EXPECT_THAT(page.err, EndsWith(" in gate.html\n"));
  EXPECT_THAT(read_text(folder_.file("gate.html")),
              AllOf(HasSubstr("resnet: gate"), HasSubstr(">REGRESSION<")));
  EXPECT_THAT(report({"gate/gate.jsonl", "--format", "md"}).out, StartsWith("<!-- bench-gate -->"));
  EXPECT_THAT(report({"gate"}).out, HasSubstr("1 REGRESSION"));
  EXPECT_THAT(report({"gate", "--top", "1"}).err, HasSubstr("omit --top"));
}

// A gate was the only report without the format.
TEST_F(ReportCommand, AGateIsACsvWithTheIdentityColumnsOfARun) {
  write_gate("gate.jsonl");
  const ProgramResult result = report({"gate.jsonl", "-o", "gate.csv"});
  EXPECT_EQ(result.status, 0) << result.err;
  const std::string text = read_text(folder_.file("gate.csv"));
  EXPECT_THAT(text, StartsWith("case,op,direction,dtype,backend,device,cache,verdict,effect,low,"));
  EXPECT_THAT(text, HasSubstr("\"REGRESSION\",0."));
  const std::string run = report({"r.jsonl", "--format", "csv"}).out;
  EXPECT_EQ(text.substr(0, text.find(",verdict")), run.substr(0, run.find(",quantity")));
  EXPECT_EQ(report({"gate.jsonl", "--format", "csv"}).out, text);
}

// A report named neither the allocations of a profile nor the files beside it.
TEST_F(ReportCommand, ThePageHasTheMemoryOverTimeAndLinksToFilesBeside) {
  Activity activity;
  activity.kind = ActivityKind::allocation;
  activity.name = "layer1.<weights>";
  activity.duration = Nanoseconds(5000);
  activity.attributes.set(Attribute::size_bytes, std::int64_t{4096});
  activity.attributes.set(Attribute::address, std::int64_t{65536});
  const Report sample = sample_run_report();
  const CaseRecord& first = sample.cases.front();
  activity.case_id = first.id;
  ProfilePassRecord pass;
  pass.run_id = first.run_id;
  pass.id = first.id;
  pass.iterations = 1;
  const std::string plain = read_text(folder_.file("r.jsonl"));
  folder_.write("p.jsonl", plain + to_json_line(activity, first.run_id) + "\n" +
                               to_json_line(Record(pass)) + "\n");
  folder_.write("p.memory_flow.svg", "<svg/>");
  ASSERT_EQ(report({"p.jsonl", "-o", "p.html"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("p.html")),
              AllOf(HasSubstr("Open the memory over time"), HasSubstr("Open the timeline"),
                    HasSubstr("<a href=\"./p.memory_flow.svg\">p.memory_flow.svg</a>"),
                    Not(HasSubstr("layer1.<weights>"))));
  ASSERT_EQ(report({"r.jsonl", "-o", "r.html"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("r.html")),
              AllOf(Not(HasSubstr("memory over time")), Not(HasSubstr("Files beside"))));
}

TEST_F(ReportCommand, AStoreGetsItsHistory) {
  std::filesystem::create_directories(folder_.file("store/" + std::string(kStoredMachine)));
  std::string lines;
  for (int run = 1; run < 4; ++run) {
    lines += to_json_line(baseline(run, run / 3, Nanoseconds(1000 + run))) + "\n";
  }
  folder_.write("store/" + std::string(kStoredMachine) + "/" + store_file_name(kStoredCase), lines);
  const ProgramResult result = report({"store", "-o", "h.html", "--plots", "plots"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(read_text(folder_.file("h.html")),
              AllOf(HasSubstr("1 case with 3 accepted runs in total."), HasSubstr(kStoredCase)));
  // The page computed a change of its own, which differed from that of `bench history`.
  const ProgramResult history =
      run_program({{BENCH_BINARY, "history", "--baseline", "store"}, folder_.path(), {}});
  EXPECT_EQ(history.status, 0) << history.err;
  EXPECT_THAT(read_text(folder_.file("h.html")),
              AllOf(HasSubstr(history.out.substr(0, history.out.find_first_of(".:\n"))),
                    HasSubstr(" data-name=\"state\">accepted</td>")));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("plots/history.svg")));
  EXPECT_THAT(report({"store"}).err, HasSubstr("choose --format html"));
}

TEST_F(ReportCommand, NamesWithMarkupStayText) {
  RunRecord run = sample_run("run2");
  run.config_name = "<script>alert(1)</script>";
  CaseRecord record = sample_case("run2", "gemm/forward/<script>/f32/onednn/cpu/hot");
  folder_.write("x.jsonl", result_file(run, record, 1000));
  for (const char* format : {"html", "md", "xml"}) {
    EXPECT_THAT(report({"x.jsonl", "--format", format}).out, Not(HasSubstr("<script>a"))) << format;
  }
}

}  // namespace
}  // namespace bench::test::report_test
