// SPDX-License-Identifier: Apache-2.0
// Tests the pages in a real browser. They fail without Chromium (ci/setup installs it).
#include "harness/report/page.hpp"

#include "base/file.hpp"
#include "harness/report/layer_table.hpp"
#include "profiler/export/memory_flow.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"
#include "tests/support/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
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
    const test::ProgramResult result = test::run_program(
        {{"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
          "--enable-logging=stderr", "--user-data-dir=" + folder_.file("profile"),
          fmt::format("--window-size={},800", width_), "--virtual-time-budget=30000", "--dump-dom",
          "file://" + path + hash},
         ".",
         {}});
    EXPECT_EQ(result.status, 0) << "chromium is needed, ci/setup installs it\n" << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("CONSOLE")));
    EXPECT_THAT(result.out, HasSubstr("data-ready=\"yes\""));
    return result.out;
  }

  static std::string without_breaks(const std::string& dom) {
    return std::regex_replace(dom, std::regex("<wbr>"), "");
  }

  // The ids in the order in which the page shows them.
  static std::vector<std::string> shown_ids(std::string dom) {
    dom = without_breaks(dom);
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
  int width_ = 1200;  // width of the window
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

// Text was once ordered by character, so that m1000 came before m99.
TEST_F(ReportPage, OrdersTextByTheNumbersInIt) {
  Report report;
  for (const char* m : {"m1000", "m99", "m128"}) {
    test::add_timed_case(report, fmt::format("gemm/forward/{}n8k8/f32/onednn/cpu/hot", m), 1000);
  }
  EXPECT_THAT(shown_ids(document(page_of(report), "#sort=case")),
              ElementsAre(HasSubstr("m99n"), HasSubstr("m128n"), HasSubstr("m1000n")));
}

// On a narrow screen, where the list replaces the headings, it once named the first column although
// nothing was sorted, and the order could not be reversed.
TEST_F(ReportPage, TheListOfColumnsStartsUnsortedReversesAndReturns) {
  const std::string page = page_of(test::sample_run_report());
  const std::string first = "gemm/forward/m16n8k8/f32/onednn/cpu/hot";
  const std::string choose =
      "const list = document.querySelector('.sorter select');"
      "const choose = (value) => { list.value = value; list.dispatchEvent(new Event('change')); };"
      "const start = list.selectedOptions[0].textContent; choose('1');"
      "document.documentElement.dataset.start = start;";
  EXPECT_THAT(document(page, "", choose), HasSubstr("data-start=\"as listed\""));
  EXPECT_EQ(shown_ids(document(page, "", choose)).front(),
            "gemm/forward/m128n8k8/f32/onednn/cpu/hot");
  const std::string reverse = choose + "document.querySelector('button.reverse').click();";
  EXPECT_EQ(shown_ids(document(page, "", reverse)).front(),
            "gemm/forward/m16n8k8/bf16/onednn/cpu/hot");
  EXPECT_EQ(shown_ids(document(page, "", reverse + "choose('');")).front(), first);
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

// With all 10,000 rows in one table body, each sort took a browser 4 s.
TEST_F(ReportPage, AllRowsAreDrawnInSeveralBodiesInTheirOrder) {
  Report report;
  for (int i = 0; i < 600; ++i) {
    test::add_timed_case(report, fmt::format("gemm/forward/m{}n8k8/f32/onednn/cpu/hot", i + 1),
                         1000 + i);
  }
  const std::string show = "document.querySelector('button.all').click();";
  const std::string dom = document(page_of(report), "#sort=median", show);
  const std::vector<std::string> ids = shown_ids(dom);
  ASSERT_THAT(ids, SizeIs(600));
  EXPECT_EQ(ids.front(), "gemm/forward/m600n8k8/f32/onednn/cpu/hot");
  EXPECT_EQ(ids.back(), "gemm/forward/m1n8k8/f32/onednn/cpu/hot");
  EXPECT_THAT(dom, HasSubstr("class=\"sortable chunked\""));
  const std::string filtered =
      document(page_of(report), "",
               show +
                   "const box = document.querySelector('input[type=search]');"
                   "box.value = 'm77n'; box.dispatchEvent(new Event('input'));");
  EXPECT_THAT(shown_ids(filtered), SizeIs(1));
  EXPECT_THAT(filtered, HasSubstr("class=\"sortable\""));
}

// The box in which the table scrolls once hid most rows and the columns at the right on paper. On a
// narrow screen it was a small window on very long cards.
TEST_F(ReportPage, ATableScrollsNeitherOnPaperNorOnANarrowScreen) {
  const std::string dom = document(
      page_of(test::sample_run_report()), "",
      "const heights = [...document.styleSheets[0].cssRules].filter((rule) => rule.media)"
      ".flatMap((rule) => [...rule.cssRules].filter((each) => each.selectorText === '.scroll')"
      ".map((each) => rule.media.mediaText + ' ' + each.style.maxHeight));"
      "document.documentElement.dataset.heights = heights.join(', ');");
  EXPECT_THAT(dom, HasSubstr("data-heights=\"screen and (max-width: 700px) none, print none\""));
}

// brg:avx512_core_bf16 was once broken inside a word.
TEST_F(ReportPage, ANameOfAnImplementationBreaksAfterItsParts) {
  EXPECT_THAT(page_of(test::sample_run_report()), HasSubstr(">brg:<wbr>avx512_<wbr>core</td>"));
  Report report = test::sample_run_report();
  report.cases.back().reason = "see /tmp/a_b";
  EXPECT_THAT(page_of(report), HasSubstr(" see /tmp/<wbr>a_<wbr>b</td>"));
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
  EXPECT_THAT(dom, Not(HasSubstr("<a href=\"#s")));  // no section has content to jump to
  EXPECT_THAT(dom, HasSubstr("No case has a time, so there is no picture of the times."));
  EXPECT_THAT(dom, HasSubstr("There is no finding, since no case has a time."));
  EXPECT_THAT(dom, HasSubstr("bench run CONFIG --profile"));
}

TEST_F(ReportPage, TheTimelineOpensInsideThePage) {
  const Report report = test::sample_run_report();
  const LayerTimes profile;
  RunView view{report, "r.jsonl"};
  view.profile = &profile;
  view.timeline =
      "<!DOCTYPE html><title>t</title><script>\n// a comment\n"
      "parent.document.documentElement.dataset.timeline = 'ran';</script>";
  const std::string dom = document(run_page(view, {}), "",
                                   "document.querySelector('details.frame').open = true;"
                                   "document.querySelector('iframe').loading = 'eager';");
  EXPECT_THAT(dom, HasSubstr("data-timeline=\"ran\""));
}

// Opens everything, and then counts tables that are wider than their box, and elements that are cut
// or make the page wider than the window.
constexpr const char* kMeasureOverflow =
    "for (const each of document.querySelectorAll('details.section')) each.open = true;"
    "const examine = () => {"
    "  const wide = (box) => box.scrollWidth > box.clientWidth;"
    "  const root = document.documentElement;"
    "  root.dataset.cut = [...document.querySelectorAll('.scroll, td, dd, p, "
    "li')].filter(wide).length;"
    "  root.dataset.sideways = wide(root);"
    "  root.dataset.cards = document.querySelectorAll('.cards').length; };"
    // The page decides about cards when a section was unfolded.
    "setTimeout(examine, 200);";

GateFile gate_with_long_texts() {
  GateFile gate = test::sample_gate();
  for (CaseAssessment& judgement : gate.judgements) {
    judgement.id = "conv/backward_weights/n64c256h56w56k256r3s3p1/bf16/onednn/cpu/cold_weights/t16";
    judgement.verdict = Verdict::no_baseline;
    judgement.effect = 12.345;
    judgement.low = judgement.high = -0.999;
    judgement.adjusted_p = 0.000012;
    judgement.duets = judgement.confirmations = 80;
    judgement.base = judgement.candidate = Nanoseconds(123'400'000);
    judgement.reason =
        "the minimum detectable effect is 12.3 %, which is above the limit of the gate";
  }
  return gate;
}

// Every column of a run has a value, and all texts are long.
Report run_with_long_texts() {
  Report report = test::sample_run_report();
  for (CaseRecord& record : report.cases) {
    record.id = "conv/backward_weights/n64c256h56w56k256r3s3p1/bf16/onednn/cpu/cold_weights/t16";
    record.implementation = "cudnn:engine_71_with_a_long_name + bench:elementwise";
    record.flags = {Flag::noisy, Flag::unsteady, Flag::launch_bound, Flag::disturbed};
    record.memory.emplace().peak = Bytes{3'500'000};
    record.roofline.emplace().efficiency = 0.987;
    if (record.outcome != Outcome::ok)
      record.reason =
          "destination[0,0,0,0]: got -838860800, want 100, tolerance 0; 200398 of 200704";
  }
  return report;
}

// The last columns were cut at this width: in the page of a gate they say what changed, in that of
// a run why a case failed.
TEST_F(ReportPage, TheTablesFitAWindowOf1200Pixels) {
  const auto expect_fit = [&](const std::string& page, std::string_view cards) {
    const std::string dom = document(page, "", kMeasureOverflow);
    EXPECT_THAT(dom, HasSubstr("data-cut=\"0\""));
    EXPECT_THAT(dom, HasSubstr("data-sideways=\"false\""));
    EXPECT_THAT(dom, HasSubstr(cards));
  };
  expect_fit(gate_page(gate_with_long_texts(), {}), "data-cards=\"0\"");
  expect_fit(page_of(test::sample_run_report()), "data-cards=\"0\"");
  expect_fit(page_of(run_with_long_texts()), "data-cards=\"1\"");
}

// With all columns the table was several windows wide.
TEST_F(ReportPage, RowsThatDoNotFitBecomeCards) {
  const Report report = run_with_long_texts();
  RunView view{report, "r.jsonl"};
  for (const CaseColumn& column : case_columns()) view.columns.push_back(&column);
  const std::string all = document(run_page(view, {}), "", kMeasureOverflow);
  EXPECT_THAT(all, HasSubstr("data-cut=\"0\""));
  EXPECT_THAT(all, HasSubstr("data-cards=\"1\""));

  width_ = 800;
  const std::string dom = document(page_of(report), "", kMeasureOverflow);
  EXPECT_THAT(dom, HasSubstr("data-cut=\"0\""));
  EXPECT_THAT(dom, HasSubstr("data-sideways=\"false\""));
  EXPECT_THAT(dom, HasSubstr("data-cards=\"1\""));
}

TEST_F(ReportPage, AFindingLeadsToTheRowOfItsCase) {
  const std::string click =
      "document.querySelector('.findings a').click();"
      "const found = document.querySelector('tr.found');"
      "document.documentElement.dataset.found = found.querySelector('.id').textContent;"
      "document.documentElement.dataset.unfolded = found.closest('details').open;";
  const std::string dom = document(gate_page(test::sample_gate(), {}), "", click);
  EXPECT_THAT(dom, HasSubstr("data-found=\"conv/forward/c64\""));
  EXPECT_THAT(dom, HasSubstr("data-unfolded=\"true\""));
}

TEST_F(ReportPage, AMarkLeadsToTheRowOfItsCaseAlsoIfTheTableDoesNotDrawIt) {
  Report report;
  for (int i = 0; i < 300; ++i) {
    test::add_timed_case(report, fmt::format("gemm/forward/m{}n8k8/f32/onednn/cpu/hot", i + 1),
                         1000 + i);
  }
  // The longest case is the first bar and the last row.
  const std::string dom = document(page_of(report), "",
                                   "document.querySelector('figure .wide .mark').dispatchEvent("
                                   "  new MouseEvent('click', {bubbles: true}));"
                                   "document.documentElement.dataset.found ="
                                   "  document.querySelector('tr.found .id').textContent;");
  EXPECT_THAT(dom, HasSubstr("data-found=\"gemm/forward/m300n8k8/f32/onednn/cpu/hot\""));
}

// Folded sections would be missing on paper.
TEST_F(ReportPage, PaperShowsEverythingAndTheScreenIsAsBefore) {
  const std::string dom = document(
      page_of(test::sample_run_report()), "",
      "const count = () => document.querySelectorAll('details.section:not([open])').length;"
      "const before = count(); dispatchEvent(new Event('beforeprint')); const paper = count();"
      "dispatchEvent(new Event('afterprint'));"
      "document.documentElement.dataset.folded = `${before > 0} ${paper} ${count() === before}`;");
  EXPECT_THAT(dom, HasSubstr("data-folded=\"true 0 true\""));
}

// Returns the page of a profiled run in which one buffer with this name was allocated.
std::string page_with_memory(const std::string& name) {
  Activity buffer;
  buffer.kind = ActivityKind::allocation;
  buffer.name = name;
  buffer.duration = Nanoseconds(5000);
  buffer.attributes.set(Attribute::size_bytes, std::int64_t{4096});
  buffer.attributes.set(Attribute::address, std::int64_t{65536});
  const Report report = test::sample_run_report();
  const LayerTimes profile;
  RunView view{report, "r.jsonl"};
  view.profile = &profile;
  const auto flow = MemoryFlow::to(view.memory);
  EXPECT_TRUE(flow->consume(buffer).ok());
  EXPECT_TRUE(flow->finish().ok());
  return run_page(view, {});
}

TEST_F(ReportPage, TheMemoryOverTimeOpensInsideThePage) {
  const std::string page = page_with_memory(kAttack);
  const std::string dom =
      document(page, "",
               "const details = document.querySelector('details.frame'); details.open = true;"
               "const frame = document.querySelector('iframe'); frame.loading = 'eager';"
               // The frame may have been loaded before this script, or much later.
               "const examine = () => {"
               "  const blocks = frame.contentDocument?.querySelectorAll('svg rect.block').length;"
               "  if (!blocks) return setTimeout(examine, 20);"
               "  document.documentElement.dataset.blocks = blocks; }; examine();");
  EXPECT_THAT(dom, HasSubstr("data-blocks=\"1\""));
  EXPECT_THAT(dom, HasSubstr("bench trace RESULT -o FILE.html"));  // there is no timeline
}

// The picture was 1280 pixels wide in a narrower frame, with a white border in a dark page.
TEST_F(ReportPage, TheMemoryOverTimeFitsItsFrame) {
  const std::string page = page_with_memory("weights");
  const std::string dom = document(
      page, "",
      "for (const each of document.querySelectorAll('details')) each.open = true;"
      "const frame = document.querySelector('iframe'); frame.loading = 'eager';"
      "frame.style.width = '340px'; const examine = () => {"
      "  const root = frame.contentDocument?.documentElement;"
      "  const box = root?.querySelector('svg')?.getBoundingClientRect();"
      // The frame may have been loaded before this script, or much later.
      "  if (!box?.width) return setTimeout(examine, 20);"
      "  document.documentElement.dataset.fits = `${box.left} ${box.width === root.clientWidth} `"
      "    + `${root.scrollWidth <= root.clientWidth} ${root.scrollHeight <= frame.clientHeight}"
      "    ${frame.contentWindow.getComputedStyle(root).colorScheme}`; }; examine();");
  EXPECT_THAT(dom, HasSubstr("data-fits=\"0 true true true"));
  EXPECT_THAT(dom, HasSubstr("light dark\""));
}

TEST_F(ReportPage, ItsNotesAreThoseOfTheTerminal) {
  Report report = test::sample_run_report();
  report.cases.front().flags = {Flag::unsteady};
  const std::string dom = document(page_of(report));
  EXPECT_THAT(dom, HasSubstr(">Notes<"));
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
  const std::string dom = without_breaks(document(gate_page(gate, test::kKits), "#sort=slower+by"));
  EXPECT_THAT(dom, HasSubstr(gate.conclusion.sentence));
  EXPECT_EQ(shown_ids(dom).front(), "conv/forward/c64");
  EXPECT_THAT(dom, HasSubstr("class=\"bad\""));
  EXPECT_THAT(dom, HasSubstr("kit: out/conv__forward__c64"));
  EXPECT_THAT(dom, HasSubstr("data-plot=\"forest\""));
  EXPECT_THAT(dom, HasSubstr("<button>base</button>"));
  EXPECT_THAT(dom, HasSubstr("<code>p (BH)</code> is the probability"));
  document(gate_page(test::hostile_gate(), {}));
}

TEST_F(ReportPage, DuetsOfAGateSortAsNumbers) {
  GateFile gate = test::sample_gate();
  ASSERT_GE(gate.judgements.size(), 3U);
  gate.judgements.resize(3);
  const std::array<int, 3> duets = {6, 24, 12};
  for (std::size_t i = 0; i < duets.size(); ++i) {
    gate.judgements[i] =
        test::make_judgement(fmt::format("gemm/{}", duets.at(i)), Verdict::regression);
    gate.judgements[i].duets = duets.at(i);
  }
  EXPECT_THAT(shown_ids(document(gate_page(gate, {}), "#sort=duets")),
              ElementsAre("gemm/24", "gemm/12", "gemm/6"));
}

TEST_F(ReportPage, AStoreIsTheReferenceOfAGateWithoutBase) {
  GateFile gate = test::sample_gate();
  gate.facts.base.reset();
  EXPECT_THAT(gate_page(gate, {}), HasSubstr("<button>reference</button>"));
}

// The page once named neither machine nor version nor date.
TEST_F(ReportPage, AComparisonByAParameterNamesItsMachine) {
  const auto comparison = compare_by(test::sample_run_report(), "r.jsonl", "dtype", std::nullopt);
  ASSERT_TRUE(comparison.ok());
  const std::string page = parameter_page(*comparison);
  EXPECT_THAT(page, HasSubstr(">Environment<"));
  EXPECT_THAT(page, HasSubstr("<dd>Test CPU</dd>"));
}

// The lead once said "half of the intervals" about one, and blamed disturbances for the times that
// were measured by three processes, as requested.
TEST_F(ReportPage, TheLeadSaysWhyTimesHaveNoInterval) {
  Report report = test::sample_run_report();
  report.processes.clear();
  for (std::size_t i = 1; i < report.cases.size(); ++i) {
    if (!report.cases[i].time) continue;
    report.cases[i].time->low.reset();
    report.cases[i].time->high.reset();
    for (int process = 0; process < 3; ++process)
      report.processes.push_back(
          test::sample_process("run1", report.cases[i].id, process, {Nanoseconds(10'000'000)}));
  }
  EXPECT_THAT(page_of(report),
              HasSubstr("The only interval is +-1 %; 7 of 8 times have none, since "
                        "fewer than five processes measured them."));
  report.cases.erase(report.cases.begin());
  EXPECT_THAT(page_of(report), HasSubstr("No time has an interval, since fewer than five processes "
                                         "measured them, so treat all times as estimates."));
}

double linear_light(const std::string& hex) {
  const double value = std::stoi(hex, nullptr, 16) / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// Returns the contrast of two colours as WCAG 2 defines it, at least 1.
double contrast(const std::string& a, const std::string& b) {
  std::array<double, 2> light = {};
  for (const auto& [i, colour] : {std::pair(0U, a), std::pair(1U, b)}) {
    light.at(i) = 0.2126 * linear_light(colour.substr(0, 2)) +
                  0.7152 * linear_light(colour.substr(2, 2)) +
                  0.0722 * linear_light(colour.substr(4, 2));
  }
  const auto [low, high] = std::ranges::minmax(light);
  return (high + 0.05) / (low + 0.05);
}

// REGRESSION had a contrast of 3.9, faster one of 3.4; WCAG 2 asks for 4.5.
TEST_F(ReportPage, TheColoursOfTextHaveEnoughContrast) {
  constexpr double kMinContrast = 4.5;
  const std::string page = page_of({});
  const std::size_t dark = page.find("prefers-color-scheme: dark");
  for (const std::string& scheme : {page.substr(0, dark), page.substr(dark)}) {
    const auto colour = [&](const std::string& name) {
      const std::size_t begin = scheme.find("--" + name + ": #");
      EXPECT_NE(begin, std::string::npos) << name;
      return scheme.substr(begin + name.size() + 5, 6);
    };
    for (const char* text : {"ink", "soft", "s0", "bad", "good", "doubt"}) {
      for (const char* ground : {"paper", "band"}) {
        EXPECT_GE(contrast(colour(text), colour(ground)), kMinContrast) << text << " on " << ground;
      }
    }
  }
}

}  // namespace
}  // namespace bench
