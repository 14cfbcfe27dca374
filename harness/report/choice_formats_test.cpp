// SPDX-License-Identifier: Apache-2.0
// What the libraries' choices cost, in the formats of `bench report`: all have the same rows.
#include "harness/report/format.hpp"
#include "tests/fakes/gate_sample.hpp"
#include "tests/fakes/run_sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace bench {
namespace {

using namespace std::chrono_literals;
using test::split_lines;
using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

// The cases m16, m32 and m64 of the sample: a choice that costs 50 %, one that costs nothing, and
// one without another candidate. No other case has `tune`.
Report tuned_run() {
  Report report = test::sample_run_report();
  report.cases[0].regret =
      ops::Regret{"jit", 750us, "brg", 500us, {{"jit", 750us, ""}, {"brg", 500us, ""}}};
  report.cases[1].regret =
      ops::Regret{"brg", 5us, "brg", 5us, {{"brg", 5us, ""}, {"gemm:jit", 4900ns, ""}}};
  report.cases[2].regret = ops::Regret{"brg", 6us, "brg", 6us, {{"brg", 6us, ""}}};
  for (std::size_t i = 0; i < 3; ++i) report.cases[i].details["tune"] = "8";
  return report;
}

TEST(ChoiceFormats, MarkdownHasTheTableBelowTheCases) {
  const Report report = tuned_run();
  const auto lines = split_lines(run_markdown({report}, {}));
  const auto heading = std::ranges::find(
      lines, "| case | chosen | chosen takes | best | best takes | choice costs |");
  ASSERT_NE(heading, lines.end());
  ASSERT_GE(lines.end() - heading, 9);
  EXPECT_EQ(heading[-1], "");
  EXPECT_EQ(heading[1], "|---|---|--:|---|--:|--:|");
  EXPECT_EQ(heading[2],
            "| gemm/forward/m16n8k8/f32/onednn/cpu/hot | jit | 750.0 us | brg | 500.0 us | 50 % |");
  EXPECT_EQ(heading[3],
            "| gemm/forward/m32n8k8/f32/onednn/cpu/hot | brg | 5.000 us | as chosen |  | none |");
  EXPECT_EQ(heading[4],
            "| gemm/forward/m64n8k8/f32/onednn/cpu/hot | brg | 6.000 us | n/a |  | n/a |");
  EXPECT_EQ(heading[5], "");
  EXPECT_THAT(heading[6], HasSubstr("All candidates of a case: "));
  EXPECT_THAT(heading[6], HasSubstr("bench explain gemm/forward/m16n8k8/f32/onednn/cpu/hot --set "
                                    "tune=8"));
  EXPECT_EQ(heading[7], "");
  EXPECT_THAT(heading[8], HasSubstr("the library offers no other candidate"));
}

TEST(ChoiceFormats, MarkdownWithoutTuneOrWithChosenColumnsHasOneTable) {
  const Report plain = test::sample_run_report();
  EXPECT_THAT(run_markdown({plain}, {}), Not(HasSubstr("choice costs")));
  const Report report = tuned_run();
  RunView view{report};
  view.columns = *choose_case_columns({"case", "median_ns"});
  EXPECT_THAT(run_markdown(view, {}), Not(HasSubstr("| choice costs")));
}

// GitHub rejects a longer step summary completely.
TEST(ChoiceFormats, MarkdownStaysBelowOneMebibyte) {
  Report report = tuned_run();
  const CaseRecord first = report.cases[0];
  report.cases.assign(6000, first);
  const std::string text = run_markdown({report}, {});
  EXPECT_LE(text.size(), std::size_t{1} << 20);
  EXPECT_THAT(text, HasSubstr("choice costs"));
  EXPECT_THAT(text, HasSubstr(" more cases are left out; use `--format csv` for all of them.\n"));
  report.cases.assign(20000, first);
  EXPECT_LE(run_markdown({report}, {}).size(), std::size_t{1} << 20);
}

TEST(ChoiceFormats, CsvHasColumnsThatAreEmptyWithoutAComparison) {
  const Report report = tuned_run();
  RunView view{report};
  view.columns = *choose_case_columns({"chosen", "chosen_ns", "best", "best_ns", "choice_cost"});
  view.rows = RunView::Rows::per_case;
  const auto wide = split_lines(run_csv(view, {}));
  EXPECT_EQ(wide[0], "chosen,chosen_ns,best,best_ns,choice_cost");
  EXPECT_EQ(wide[1], "\"jit\",750000,\"brg\",500000,0.5");
  EXPECT_EQ(wide[2], "\"brg\",5000,\"brg\",5000,0");
  EXPECT_EQ(wide[3], "\"brg\",6000,,,");
  EXPECT_EQ(wide[4], ",,,,");
  view.rows = RunView::Rows::per_value;
  view.columns = {};
  EXPECT_THAT(split_lines(run_csv(view, {})),
              Contains("\"gemm/forward/m16n8k8/f32/onednn/cpu/hot\",\"gemm\",\"forward\",\"f32\","
                       "\"onednn\",\"cpu\",\"hot\",choice_cost,1,0.5"));
}

// Programs may read the columns by their positions.
TEST(ChoiceFormats, WideCsvHasLaterColumnsLast) {
  const Report report = tuned_run();
  RunView view{report};
  view.rows = RunView::Rows::per_case;
  EXPECT_THAT(split_lines(run_csv(view, {}))[0],
              EndsWith(",reason,source,chosen,chosen_ns,best,best_ns,choice_cost,mean_ns,stddev_ns,"
                       "multiplicity"));
}

TEST(ChoiceFormats, ThePageHasASectionOnlyIfACaseHasTune) {
  const Report report = tuned_run();
  const std::string page = run_page({report, "r.jsonl"}, {});
  EXPECT_THAT(page, HasSubstr("Choices"));
  EXPECT_THAT(page, HasSubstr("choice costs"));
  EXPECT_THAT(page, HasSubstr("as chosen"));
  EXPECT_THAT(page, HasSubstr("50 %"));
  EXPECT_THAT(page, HasSubstr("the library offers no other candidate"));
  const Report plain = test::sample_run_report();
  EXPECT_THAT(run_page({plain, "r.jsonl"}, {}), Not(HasSubstr("choice costs")));
}

}  // namespace
}  // namespace bench
