// SPDX-License-Identifier: Apache-2.0
#include "harness/report/format.hpp"
#include "harness/report/gate_report.hpp"
#include "tests/fakes/gate_sample.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace bench {
namespace {

using test::hostile_gate;
using test::kKits;
using test::large_gate;
using test::occurrences;
using test::sample_gate;
using test::split_lines;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(GateMarkdown, StartsWithItsMarkerAndTheConclusion) {
  const auto lines = split_lines(gate_markdown(sample_gate(), kKits));
  EXPECT_EQ(lines[0], "<!-- bench-gate -->");
  EXPECT_EQ(lines[1],
            "**1 case became slower, 1 case has an error; 2 of 5 cases judged: 1 REGRESSION, 1 "
            "ERROR, 1 INCONCLUSIVE, 1 NO BASELINE, 1 "
            "PASS**");
  const auto stopped = split_lines(gate_markdown(test::stopped_gate(), {}));
  EXPECT_EQ(stopped[1],
            "**stopped by the budget after 7 of 10 duets; 2 of 3 cases not decided; 1 of 3 cases "
            "judged: 1 INCONCLUSIVE, 1 INCOMPARABLE, 1 PASS**");
}

TEST(GateMarkdown, ARowHoldsAllThatIsKnown) {
  EXPECT_THAT(gate_markdown(sample_gate(), kKits),
              HasSubstr("| REGRESSION | conv/forward/c64 | +20.0% \\[+19.5%, +20.5%\\] | 2e-05 | "
                        "2+1 |  | base | 1.000 us | 1.200 us | changed: implementation jit:avx2 -> "
                        "jit:sse41<br>configured at configs/resnet.yaml:14<br>kit: "
                        "out/conv\\_\\_forward\\_\\_c64<br><code>bench duet conv/forward/c64 "
                        "--base /old/bench --cand ./bench --cand-env "
                        "ONEDNN\\_MAX\\_CPU\\_ISA=SSE41</code> |\n"));
}

TEST(GateMarkdown, RegressionsThenImprovementsThenUndecidedThenTheRestFolded) {
  GateFile gate = sample_gate();
  gate.judgements.push_back(test::make_judgement("better", Verdict::improved));
  gate.judgements.back().effect = -0.1;
  const std::string text = gate_markdown(gate, kKits);
  const std::vector<std::size_t> places = {text.find("### Regressions and errors (2)"),
                                           text.find("| REGRESSION"),
                                           text.find("| ERROR"),
                                           text.find("### Improvements (1)"),
                                           text.find("| IMPROVED"),
                                           text.find("### Undecided (1)"),
                                           text.find("| INCONCLUSIVE"),
                                           text.find("<details>"),
                                           text.find("| NO BASELINE"),
                                           text.find("| PASS"),
                                           text.find("</details>")};
  EXPECT_TRUE(std::ranges::is_sorted(places)) << text;
  EXPECT_NE(places.back(), std::string::npos) << text;
}

TEST(GateMarkdown, NoNameBreaksTheTableOrBecomesMarkup) {
  const std::string text = gate_markdown(hostile_gate(), {});
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  std::size_t rows = 0;
  for (const std::string& line : split_lines(text)) {
    if (!line.starts_with("| ") || line.starts_with("| verdict")) continue;
    ++rows;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '|') {
        ++bars;
      }
    }
    EXPECT_EQ(bars, 11U) << line;
    EXPECT_THAT(line, EndsWith("</code> |"));
  }
  EXPECT_EQ(rows, 5U);
}

TEST(GateMarkdown, IsCutByWholeRowsAndSaysSo) {
  const GateFile gate = large_gate(20000);
  const std::string text = gate_markdown(gate, {});
  EXPECT_LE(text.size(), 1U << 20);
  EXPECT_GT(text.size(), (1U << 20) - 8192);
  const std::size_t rows = occurrences(text, "\n| REGRESSION") + occurrences(text, "\n| PASS");
  EXPECT_THAT(text, EndsWith(fmt::format("\n{} cases are left out here.\n", 20000 - rows)));
  EXPECT_EQ(occurrences(text, "</code> |\n"), rows);
  EXPECT_EQ(occurrences(gate_markdown(large_gate(100), {}), "left out"), 0U);
}

TEST(GateMarkdown, OneCaseThatIsLeftOutIsInTheSingular) {
  GateFile gate = large_gate(3);
  gate.judgements[2].id.assign(4 << 20, '&');
  EXPECT_THAT(gate_markdown(gate, {}), EndsWith("\n1 case is left out here.\n"));
}

TEST(GateMarkdown, OneEndlessNameDoesNotBreakTheLimit) {
  GateFile gate = sample_gate();
  gate.judgements[1].reason.assign(4 << 20, '&');
  gate.judgements[2].id.assign(4 << 20, '&');
  gate.facts.candidate.environment["X"] = std::string(4 << 20, '&');
  const std::string text = gate_markdown(gate, {});
  EXPECT_LE(text.size(), 1U << 20);
  EXPECT_THAT(text, HasSubstr("5 cases are left out"));
}

}  // namespace
}  // namespace bench
