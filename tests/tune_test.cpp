// SPDX-License-Identifier: Apache-2.0
// `tune` on the CPU, from a case to the report, with the installed oneDNN. Expects nothing about
// which implementation is fast.
#include "harness/result/report.hpp"
#include "tests/support/program.hpp"
#include "tests/support/schema.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bench::test::tune_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::SizeIs;

constexpr const char* kGemm = "gemm/forward/m64n64k64/f32/onednn/cpu/hot/t1";
constexpr const char* kNorm = "rms_norm/forward/4x64/f32/native/cpu/hot/t1";
constexpr const char* kReorder = "reorder/forward/2x16x9x9-nchw-nhwc/f32/onednn/cpu/hot/t1";

// The text without its line breaks, which depend on the names of implementations.
std::string unwrapped(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

class TuneTest : public testing::Test {
 protected:
  ProgramResult bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), BENCH_BINARY);
    return run_program({std::move(arguments), folder_.path(), {{"BENCH_LOCK", ""}}});
  }
  // Measures the case in two processes with the settings.
  Report run_case(const std::string& id, std::vector<std::string> settings) {
    std::vector<std::string> arguments = {"run", id, "--out", "r.jsonl", "--force"};
    settings.insert(settings.end(), {"measure.processes=2", "measure.max_time=20ms",
                                     "measure.min_iterations=5", "warmup.time=1ms"});
    for (std::string& setting : settings)
      arguments.insert(arguments.end(), {"--set", std::move(setting)});
    last_ = bench(std::move(arguments));
    EXPECT_EQ(last_.status, 0) << last_.err;
    const std::string text = read_text(folder_.file("r.jsonl"));
    EXPECT_THAT(result_file_problems(text), IsEmpty());
    auto report = parse_report(text, "r.jsonl");
    EXPECT_TRUE(report.ok());
    return report ? *std::move(report) : Report{};
  }

  TemporaryFolder folder_;
  ProgramResult last_;
};

TEST_F(TuneTest, ARunKeepsTheImplementationsThatItMeasured) {
  const Report report = run_case(kGemm, {"tune=true"});
  ASSERT_THAT(report.cases, SizeIs(1));
  const CaseRecord& record = report.cases.front();
  EXPECT_EQ(record.outcome, Outcome::ok) << record.reason.value_or("");
  ASSERT_TRUE(record.regret.has_value());
  const ops::Regret& regret = *record.regret;
  ASSERT_FALSE(regret.candidates.empty());
  EXPECT_LE(regret.candidates.size(), 8u);
  EXPECT_EQ(regret.chosen, regret.candidates.front().name) << "the first one of the library's list";
  EXPECT_GE(regret.chosen_time, regret.best_time);
  EXPECT_THAT(record.details, AllOf(Contains(Key("tuned")), Contains(Key("tuned_candidates"))));
  // All processes run what a worker of its own has chosen.
  ASSERT_THAT(report.processes, SizeIs(2));
  for (const ProcessRecord& process : report.processes) {
    EXPECT_EQ(process.implementation, record.implementation);
    EXPECT_TRUE(regret.best.starts_with(process.implementation)) << regret.best;
  }
  EXPECT_THAT(report.processes.front().choices, HasSubstr("\t" + regret.best + "\n"));
  EXPECT_THAT(last_.out, testing::StartsWith(kGemm));
  EXPECT_THAT(unwrapped(last_.out), HasSubstr(regret.chosen + " was chosen"));
  const ProgramResult shown = bench({"report", "r.jsonl"});
  EXPECT_THAT(shown.out, HasSubstr("\ntuned case "));
}

TEST_F(TuneTest, WithoutTuneNothingIsSaidOfIt) {
  const Report report = run_case(kGemm, {});
  EXPECT_FALSE(report.cases.at(0).regret.has_value());
  EXPECT_THAT(report.cases.at(0).details, Not(Contains(Key("tuned"))));
  EXPECT_THAT(last_.out, Not(HasSubstr("was chosen")));
}

// The library lists only one implementation of it.
TEST_F(TuneTest, AnOperatorWithoutAListHasOneCandidate) {
  const Report report = run_case(kReorder, {"tune=4"});
  ASSERT_TRUE(report.cases.at(0).regret.has_value());
  EXPECT_THAT(report.cases.at(0).regret->candidates, SizeIs(1));
  EXPECT_THAT(unwrapped(last_.out), HasSubstr("no other candidate was measured"));
  EXPECT_THAT(unwrapped(last_.out), HasSubstr("the library offers no other candidate; "));
  const ProgramResult csv =
      bench({"report", "r.jsonl", "--format", "csv", "--wide", "--columns", "best,choice_cost"});
  EXPECT_EQ(csv.out, "best,choice_cost\n,\n");
}

// The run was silent, so a reader could not know whether the library's choice is the best one.
TEST_F(TuneTest, ABackendWithoutAChoiceSaysSo) {
  run_case(kNorm, {"tune=true"});
  const std::string reason = "1 case with `tune` has no measured alternative (" +
                             std::string(kNorm) + "): the backend `native` offers no choice; ";
  EXPECT_THAT(unwrapped(last_.out), HasSubstr(reason));
  EXPECT_THAT(unwrapped(bench({"report", "r.jsonl"}).out), HasSubstr(reason));
  EXPECT_THAT(bench({"report", "r.jsonl", "--format", "md"}).out,
              HasSubstr("offers no choice; to compare libraries, "));
  EXPECT_THAT(bench({"explain", kNorm, "--set", "tune=true"}).out,
              HasSubstr("\nchoice\n  no other candidate was measured\n  the backend `native` "
                        "offers no choice;\n"));
}

TEST_F(TuneTest, TheReportHasTheTableInMarkdownAndHtml) {
  run_case(kGemm, {"tune=true"});
  EXPECT_THAT(bench({"report", "r.jsonl", "--format", "md"}).out,
              HasSubstr("\n| case | chosen | chosen takes | best | best takes | choice costs |\n"));
  EXPECT_EQ(bench({"report", "r.jsonl", "-o", "r.html"}).status, 0);
  EXPECT_THAT(read_text(folder_.file("r.html")), HasSubstr("choice costs"));
}

TEST_F(TuneTest, ExplainShowsAllCandidates) {
  const ProgramResult text = bench({"explain", kGemm, "--set", "tune=8"});
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\nchoice\n"));
  EXPECT_THAT(text.out, HasSubstr(" was chosen; "));
  // Without `tune`, the command measured another case.
  EXPECT_THAT(text.out, HasSubstr(std::string(" run ") + kGemm + " --set tune=8\n"));
  const ProgramResult machine = bench({"explain", kGemm, "--set", "tune=8", "--json"});
  const auto here = nlohmann::json::parse(machine.out).at("cases").at(0).at("here");
  EXPECT_EQ(here.at("regret").at("candidates").at(0).at("name"), here.at("regret").at("chosen"));
  EXPECT_THAT(bench({"explain", kGemm}).out, HasSubstr("\nchoice\n  the library's own; `--set"));
}

}  // namespace
}  // namespace bench::test::tune_test
