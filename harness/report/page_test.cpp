// SPDX-License-Identifier: Apache-2.0
// Tests the pages in a real browser. They fail without Chromium (ci/setup installs it).
#include "harness/report/page.hpp"

#include "base/file.hpp"
#include "profiler/export/memory_flow.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kAttack =
    "</title></script><script>document.title='taken'</script>"
    "<img src=x onerror=\"document.title='taken'\">";

class ReportPage : public testing::Test {
 protected:
  // Returns the document after its scripts and `script` ran. No script may report an error.
  std::string document(const std::string& html, const std::string& hash = "",
                       const std::string& script = "") {
    const std::string path = folder_.file("page.html");
    const std::string added = script.empty() ? "" : "<script>" + script + "</script>";
    EXPECT_TRUE(write_file(path, html + added, Existing::replace).ok());
    const test::ProgramResult result =
        test::run_program({{"chromium", "--headless", "--no-sandbox", "--disable-gpu",
                            "--disable-dev-shm-usage", "--enable-logging=stderr",
                            "--user-data-dir=" + folder_.file("profile"), "--window-size=1200,800",
                            "--virtual-time-budget=30000", "--dump-dom", "file://" + path + hash},
                           ".",
                           {}});
    EXPECT_EQ(result.status, 0) << "chromium is needed, ci/setup installs it\n" << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("CONSOLE")));
    EXPECT_THAT(result.out, HasSubstr("data-ready=\"yes\""));
    return result.out;
  }

  // The ids in the order in which the page shows them.
  static std::vector<std::string> shown_ids(std::string dom) {
    dom = std::regex_replace(dom, std::regex("<wbr>"), "");
    std::vector<std::string> ids;
    const std::regex pattern("<td class=\"id\">([^<]*)</td>");
    for (auto match = std::sregex_iterator(dom.begin(), dom.end(), pattern);
         match != std::sregex_iterator(); ++match) {
      ids.push_back((*match)[1]);
    }
    return ids;
  }

  static std::string page_of(const Report& report) { return run_page({report, "r.jsonl"}, {}); }

  test::TemporaryFolder folder_;
};

TEST_F(ReportPage, SortsByAClickOnAHeadingAndTurnsRoundByTheSecond) {
  const std::string page = page_of(test::sample_run_report());
  const std::string click =
      "document.querySelectorAll('th button')[1].click();";  // the medians, largest first
  const std::vector<std::string> down = shown_ids(document(page, "", click));
  ASSERT_THAT(down, SizeIs(9));
  EXPECT_EQ(down.front(), "gemm/forward/m128n8k8/f32/onednn/cpu/hot");
  EXPECT_EQ(down.back(), "gemm/forward/m9n9k9/f32/onednn/cpu/hot");  // has no time
  const std::string dom = document(page, "", click + click);
  EXPECT_EQ(shown_ids(dom).front(), "gemm/forward/m16n8k8/bf16/onednn/cpu/hot");
  EXPECT_EQ(shown_ids(dom).back(), "gemm/forward/m9n9k9/f32/onednn/cpu/hot");
  EXPECT_THAT(dom, HasSubstr("aria-sort=\"ascending\" class=\"number\""));
}

TEST_F(ReportPage, FiltersByEveryWord) {
  const std::string page = page_of(test::sample_run_report());
  const std::string type =
      "const box = document.querySelector('input[type=search]'); box.value = 'M16 bf16';"
      "box.dispatchEvent(new Event('input'));";
  const std::string dom = document(page, "", type);
  EXPECT_THAT(shown_ids(dom), ElementsAre("gemm/forward/m16n8k8/bf16/onednn/cpu/hot"));
  EXPECT_THAT(dom, HasSubstr(">1 of 9 rows<"));
  EXPECT_THAT(shown_ids(document(page, "#filter=wrong_result")),
              ElementsAre("gemm/forward/m9n9k9/f32/onednn/cpu/hot"));
}

TEST_F(ReportPage, TheArrowKeysShowWhatAMarkStandsFor) {
  const std::string page = page_of(test::sample_run_report());
  const std::string press =
      "const svg = document.querySelector('figure .wide svg'); svg.focus();"
      "svg.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));";
  EXPECT_THAT(document(page, "", press),
              testing::ContainsRegex("id=\"tip\"[^>]*>gemm/forward/m128n8k8/f32/onednn/cpu/hot"));
}

// 10,000 rows once took a browser a second per sort, because it laid out all of them.
TEST_F(ReportPage, DrawsTheFirst250Of10000RowsAndSortsAllOfThem) {
  Report report;
  for (int i = 0; i < 10'000; ++i) {
    test::add_timed_case(report, fmt::format("gemm/forward/m{}n8k8/f32/onednn/cpu/hot", i + 1),
                         1000 + i);
  }
  const std::string page = page_of(report);
  const std::string dom = document(page, "#sort=median");
  const std::vector<std::string> ids = shown_ids(dom);
  ASSERT_THAT(ids, SizeIs(250));
  EXPECT_EQ(ids.front(), "gemm/forward/m10000n8k8/f32/onednn/cpu/hot");
  EXPECT_THAT(dom, HasSubstr("10000 of 10000 rows, the first 250 shown"));
  EXPECT_THAT(shown_ids(document(page, "#filter=m777n")),
              ElementsAre("gemm/forward/m777n8k8/f32/onednn/cpu/hot"));
}

TEST_F(ReportPage, HostileNamesAreOnlyShown) {
  Report report = test::sample_run_report();
  report.runs.back().config_name = std::string("@BODY@ @SCRIPT@ ") + kAttack;
  report.runs.back().environment.cpu = kAttack;
  for (CaseRecord& record : report.cases) {
    record.id += kAttack;
    record.implementation = kAttack;
    record.reason = kAttack;
  }
  for (ProcessRecord& process : report.processes) process.id += kAttack;
  const std::string page = page_of(report);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  const std::string dom = document(page, "#sort=median&filter=onerror");
  EXPECT_THAT(dom, HasSubstr("<title>@BODY@ @SCRIPT@ &lt;/title&gt;"));
  EXPECT_THAT(dom, Not(HasSubstr("<img")));
  EXPECT_THAT(dom, HasSubstr(">9 of 9 rows<"));
}

TEST_F(ReportPage, AnEmptyRunSaysWhatIsMissing) {
  const std::string dom = document(page_of({}));
  EXPECT_THAT(dom, HasSubstr("The report has no cases."));
  EXPECT_THAT(dom, HasSubstr("there is no roofline"));
  EXPECT_THAT(dom, HasSubstr("bench run CONFIG --profile"));
}

TEST_F(ReportPage, TheTimelineOpensInsideThePage) {
  const Report report = test::sample_run_report();
  const Summary profile;
  RunView view{report, "r.jsonl"};
  view.profile = &profile;
  view.timeline =
      "<!DOCTYPE html><title>t</title><script>\n// a comment\n"
      "parent.document.documentElement.dataset.timeline = 'ran';</script>";
  const std::string dom = document(run_page(view, {}), "",
                                   "document.querySelector('details').open = true;"
                                   "document.querySelector('iframe').loading = 'eager';");
  EXPECT_THAT(dom, HasSubstr("data-timeline=\"ran\""));
}

TEST_F(ReportPage, TheMemoryOverTimeOpensInsideThePage) {
  Activity buffer;
  buffer.kind = ActivityKind::allocation;
  buffer.name = kAttack;
  buffer.duration = Nanoseconds(5000);
  buffer.attributes.set(Attribute::size_bytes, std::int64_t{4096});
  buffer.attributes.set(Attribute::address, std::int64_t{65536});
  const Report report = test::sample_run_report();
  const Summary profile;
  RunView view{report, "r.jsonl"};
  view.profile = &profile;
  const auto flow = MemoryFlow::to(view.memory);
  ASSERT_TRUE(flow->consume(buffer).ok());
  ASSERT_TRUE(flow->finish().ok());
  const std::string dom =
      document(run_page(view, {}), "",
               "const details = document.querySelector('details'); details.open = true;"
               "const frame = document.querySelector('iframe'); frame.loading = 'eager';"
               "frame.addEventListener('load', () => { document.documentElement.dataset.blocks ="
               " frame.contentDocument.querySelectorAll('svg rect.block').length; });");
  EXPECT_THAT(dom, HasSubstr("data-blocks=\"1\""));
  EXPECT_THAT(dom, HasSubstr("bench trace RESULT -o FILE.html"));  // there is no timeline
}

TEST_F(ReportPage, ItsFindingsAreTheNotesOfTheTerminal) {
  Report report = test::sample_run_report();
  report.cases.front().flags = {Flag::unsteady};
  const std::string dom = document(page_of(report));
  EXPECT_THAT(dom, HasSubstr(">Findings<"));
  EXPECT_THAT(dom, HasSubstr("<code>bench peak</code> measures the ceilings"));
  EXPECT_THAT(dom, HasSubstr("unsteady, 1 case: the times still changed"));
}

TEST_F(ReportPage, LinksToFilesEscapeWhatIsPartOfAnAddress) {
  const Report report = test::sample_run_report();
  RunView view{report, "r.jsonl"};
  view.files_beside = {"a b#1\".memory_flow.svg"};
  EXPECT_THAT(document(run_page(view, {})),
              HasSubstr("<a href=\"./a%20b%231%22.memory_flow.svg\">"));
}

TEST_F(ReportPage, AGateShowsItsConclusionVerdictsAndEffects) {
  const GateFile gate = test::sample_gate();
  const std::string dom = document(gate_page(gate, test::kKits), "#sort=slower+by");
  EXPECT_THAT(dom, HasSubstr(gate.conclusion.sentence));
  EXPECT_EQ(shown_ids(dom).front(), "conv/forward/c64");
  EXPECT_THAT(dom, HasSubstr("class=\"bad\""));
  EXPECT_THAT(dom, HasSubstr("kit: out/conv__forward__c64"));
  EXPECT_THAT(dom, HasSubstr("data-plot=\"forest\""));
  document(gate_page(test::hostile_gate(), {}));
}

}  // namespace
}  // namespace bench
