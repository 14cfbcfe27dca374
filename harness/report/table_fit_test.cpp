// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Column kCut = {"case", Align::left, 8};
const Column kWhole = {"outcome"};

std::vector<Row> rows_of(std::vector<Cell> cells) {
  std::vector<Row> rows;
  for (Cell& cell : cells) rows.push_back({{std::move(cell)}, ""});
  return rows;
}

TEST(FitColumn, takes_the_longest_form_that_fits_all_rows) {
  const auto rows = rows_of({{"conv/forward/a", Tone::plain, {"conv/.../a", "c/a"}},
                             {"conv/forward/bcd", Tone::plain, {"conv/.../bcd", "c/bcd"}}});
  EXPECT_THAT(fit_column(kCut, rows, 0, 16).texts,
              ElementsAre("conv/forward/a", "conv/forward/bcd"));
  EXPECT_THAT(fit_column(kCut, rows, 0, 15).texts, ElementsAre("conv/.../a", "conv/.../bcd"));
  EXPECT_THAT(fit_column(kCut, rows, 0, 11).texts, ElementsAre("c/a", "c/bcd"));
}

TEST(FitColumn, moves_the_cut_until_all_rows_differ) {
  const auto rows = rows_of({{"abcdefgh1jklmnopqrstuvwxyz"}, {"abcdefgh2jklmnopqrstuvwxyz"}});
  const FittedColumn fitted = fit_column(kCut, rows, 0, 18);
  EXPECT_TRUE(fitted.is_lossless());
  EXPECT_THAT(fitted.texts, ElementsAre("abcdefgh1...uvwxyz", "abcdefgh2...uvwxyz"));
}

TEST(FitColumn, does_not_cut_beside_the_dots_of_a_form) {
  const auto rows = rows_of({{"conv/.../c64h56w56k64r3s3p1/.../hot"}});
  for (std::size_t width = 24; width < 35; ++width) {
    const std::string text = fit_column(kCut, rows, 0, width).texts.front();
    EXPECT_EQ(text.find("...."), std::string::npos) << text;
  }
}

TEST(FitColumn, the_same_cell_in_two_rows_is_no_loss) {
  const auto rows = rows_of({{"abcdefghijklmnop"}, {"abcdefghijklmnop"}});
  EXPECT_TRUE(fit_column(kCut, rows, 0, 12).is_lossless());
}

TEST(FitColumn, what_no_cut_tells_apart_is_lossy) {
  const auto rows = rows_of({{"abcdefghijXlmnopqrstu"}, {"abcdefghijYlmnopqrstu"}, {"short"}});
  EXPECT_THAT(fit_column(kCut, rows, 0, 9).is_lossy, ElementsAre(true, true, false));
}

TEST(FitColumn, a_column_that_is_never_cut_keeps_its_shortest_form) {
  const auto rows = rows_of({{"ok noisy disturbed", Tone::plain, {"ok noisy +1"}}, {"ok"}});
  EXPECT_EQ(narrowest_width(kWhole, rows, 0), 11u);
  const FittedColumn fitted = fit_column(kWhole, rows, 0, 5);
  EXPECT_THAT(fitted.texts, ElementsAre("ok noisy +1", "ok"));
  EXPECT_THAT(fitted.is_lossy, ElementsAre(true, false));
}

TEST(SplitColumns, never_splits_a_character) {
  EXPECT_THAT(split_columns("", 4), IsEmpty());
  EXPECT_THAT(split_columns("abcde", 2), ElementsAre("ab", "cd", "e"));
  EXPECT_THAT(split_columns("\xc3\xa9\xc3\xa9\xc3\xa9", 2),
              ElementsAre("\xc3\xa9\xc3\xa9", "\xc3\xa9"));
  EXPECT_THAT(split_columns("ab", 0), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace bench
