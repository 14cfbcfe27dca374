// SPDX-License-Identifier: Apache-2.0
// What each page opens with: a picture and at most three findings, everything else folded.
#include "harness/report/page.hpp"
#include "tests/fakes/baseline_records.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Returns the page from its first section to the first folded one.
std::string opening_of(const std::string& page) {
  const std::size_t begin = page.find("<main>");
  return page.substr(begin, page.find("<details") - begin);
}

// Expects that the page opens with a picture, and with findings or a sentence in their place.
void expect_opening(const std::string& page) {
  const std::string opening = opening_of(page);
  EXPECT_THAT(opening, StartsWith("<main>\n<section class=\"opening\" aria-label=\"overview\">\n"
                                  "<figure "));
  EXPECT_THAT(opening, HasSubstr("<svg"));
  EXPECT_THAT(opening, HasSubstr("class=\"findings\">"));
  EXPECT_LE(test::occurrences(opening, "<li>"), kMaxFindings);
  EXPECT_THAT(opening, Not(HasSubstr("<table")));
  const std::string rest = page.substr(page.find("<details"));
  EXPECT_EQ(test::occurrences(rest, "<section"), 0U) << "everything else is folded";
  EXPECT_EQ(test::occurrences(rest, "<details"), test::occurrences(rest, "</details>"));
  EXPECT_THAT(rest, Not(HasSubstr("<details open")));
}

Activity primitive(const std::string& name, std::int64_t start, std::int64_t time) {
  Activity activity;
  activity.kind = ActivityKind::primitive;
  activity.name = name;
  activity.track.pid = activity.track.tid = 7;
  activity.start = Nanoseconds(start);
  activity.duration = Nanoseconds(time);
  return activity;
}

// A process of 1 ms, of which a convolution takes 60 % and a pooling 20 %.
Summary sample_profile() {
  Summary summary;
  EXPECT_TRUE(summary.consume(primitive("pooling", 0, 200'000)).ok());
  EXPECT_TRUE(summary.consume(primitive("convolution", 400'000, 600'000)).ok());
  return summary;
}

BaselineHistory sample_history() {
  BaselineHistory history;
  for (int run = 1; run < 4; ++run)
    history.records.push_back(test::baseline(run, 0, Nanoseconds(1000 + run)));
  return history;
}

// Pages began with facts and a table; their pictures were three screens below. That of a profile
// had no findings.
TEST(PageOpening, IsAPictureAndAtMostThreeFindings) {
  const Report run = test::sample_run_report();
  expect_opening(run_page({run, "r.jsonl"}, {}));
  expect_opening(gate_page(test::sample_gate(), {}));
  expect_opening(gate_page(test::large_gate(40), {}));
  expect_opening(history_page({sample_history()}, "store"));
  expect_opening(profile_page({sample_profile(), "p.jsonl"}));
  const auto by_dtype = compare_by(run, "r.jsonl", "dtype", std::nullopt);
  ASSERT_TRUE(by_dtype.ok());
  expect_opening(parameter_page(*by_dtype));
  Comparison comparison;
  comparison.cases.emplace_back().id = "conv/a";
  comparison.cases.back().ratio = 1.2;
  expect_opening(comparison_page(comparison));
}

// The page of a run on a GPU named only the host's processor.
TEST(PageOpening, NamesTheGpuThatCasesRanOn) {
  Report report = test::sample_run_report();
  EnvironmentRecord& machine = report.runs.back().environment;
  machine.cpu = "Xeon";
  machine.threads = 16;
  machine.details["gpu.name"] = "H100";
  const auto page = [&] { return run_page({report, "r.jsonl"}, {}); };
  EXPECT_THAT(page(), HasSubstr("Measured on Xeon with 16 threads. "));
  report.cases.front().device = "cuda";
  EXPECT_THAT(page(), HasSubstr("Measured on Xeon with 16 threads, and on H100. "));
  for (CaseRecord& record : report.cases) record.device = "cuda";
  EXPECT_THAT(page(), HasSubstr("Measured on H100; the host is Xeon with 16 threads. "));
}

TEST(PageOpening, ALargeGateShowsItsFirstEffectsAndFoldsTheOthers) {
  const std::string page = gate_page(test::large_gate(40), {});
  const std::string opening = opening_of(page);
  EXPECT_EQ(test::occurrences(opening, "<g class=\"mark"), 2 * kMaxOpeningRows);  // two widths
  EXPECT_THAT(opening, HasSubstr("28 further cases are not drawn."));
  EXPECT_THAT(page, HasSubstr("<h2>Effects</h2><span class=\"soft\">of 40 cases</span>"));
  EXPECT_THAT(gate_page(test::sample_gate(), {}), Not(HasSubstr("<h2>Effects</h2>")));
}

TEST(PageOpening, AFindingLinksToTheRowOfItsCase) {
  const std::string page = gate_page(test::sample_gate(), {});
  const std::size_t link = page.find("<a href=\"#t");
  ASSERT_NE(link, std::string::npos);
  const std::string fragment = page.substr(link + 10, page.find('"', link + 10) - link - 10);
  const std::size_t row = page.find("<tr id=\"" + fragment + "\">");
  ASSERT_NE(row, std::string::npos);
  EXPECT_THAT(page.substr(row, 300), HasSubstr("conv/<wbr>forward/<wbr>c64</td>"));
}

TEST(PageOpening, TheBarsShowTimeAndCeiling) {
  Report report = test::sample_run_report();
  Roofline& roofline = report.cases[3].roofline.emplace();  // the longest case
  roofline.ideal = Nanoseconds(64'000);
  roofline.efficiency = 0.25;
  const Plot plot = cases_plot(report);
  EXPECT_EQ(test::occurrences(plot.wide, "<g class=\"mark"), 8U);
  EXPECT_EQ(test::occurrences(plot.wide, "<rect class=\"ideal\""), 1U);
  EXPECT_EQ(test::occurrences(plot.wide, "<rect class=\"s0 light\""), 1U);
  EXPECT_THAT(plot.caption, HasSubstr("The dark tick is the time at the machine's ceiling"));
  EXPECT_THAT(plot.wide, HasSubstr("ideal 64 us, efficiency 25.0 %"));
  report.cases[3].roofline.reset();
  EXPECT_THAT(cases_plot(report).caption, HasSubstr("n/a: no ceilings, run `bench peak`"));
}

TEST(PageOpening, AProfileNamesItsLongestOperator) {
  const std::string page = profile_page({sample_profile(), "p.jsonl"});
  const std::string opening = opening_of(page);
  EXPECT_THAT(opening, HasSubstr(">convolution</a> took 60.0 % of the wall time: 600.0 us in 1 "
                                 "call."));
  EXPECT_THAT(opening, HasSubstr(">(outside primitives)</text>"));
  EXPECT_THAT(profile_page({Summary(), "p.jsonl"}),
              HasSubstr("There is no finding, since nothing was recorded."));
}

// The page said that nothing says that the machine was disturbed, although cases were flagged.
TEST(PageOpening, TheEnvironmentDoesNotContradictTheFlags) {
  Report report = test::sample_run_report();
  const auto page = [&] { return run_page({report, "r.jsonl"}, {}); };
  EXPECT_THAT(page(), HasSubstr("Nothing in the result says that the machine was disturbed."));
  report.cases[0].flags = {Flag::unsteady};
  EXPECT_THAT(page(), AllOf(HasSubstr("Of 9 cases, 1 <code>unsteady</code>: something may have "
                                      "disturbed the machine."),
                            Not(HasSubstr("Nothing in the result"))));
  report.cases[0].flags.clear();
  for (CaseRecord& record : report.cases) {
    if (record.time) record.time->low = record.time->high = std::nullopt;
  }
  EXPECT_THAT(page(),
              HasSubstr("Whether the machine was disturbed is unknown, since no time has an "
                        "interval."));
}

}  // namespace
}  // namespace bench
