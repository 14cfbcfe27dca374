// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const TextColumn kCut = {"case", Align::left, 8};
const TextColumn kWhole = {"outcome"};

std::vector<TextRow> rows_of(std::vector<TextCell> cells) {
  std::vector<TextRow> rows;
  for (TextCell& cell : cells) rows.push_back({{std::move(cell)}, ""});
  return rows;
}

TEST(FitColumn, TakesTheLongestFormThatFitsAllRows) {
  const auto rows = rows_of({{"conv/forward/a", Tone::plain, {"conv/.../a", "c/a"}},
                             {"conv/forward/bcd", Tone::plain, {"conv/.../bcd", "c/bcd"}}});
  EXPECT_THAT(ColumnFitter(kCut, rows, 0).fit(16).texts,
              ElementsAre("conv/forward/a", "conv/forward/bcd"));
  EXPECT_THAT(ColumnFitter(kCut, rows, 0).fit(15).texts, ElementsAre("conv/.../a", "conv/.../bcd"));
  EXPECT_THAT(ColumnFitter(kCut, rows, 0).fit(11).texts, ElementsAre("c/a", "c/bcd"));
}

TEST(FitColumn, MovesTheCutUntilAllRowsDiffer) {
  const auto rows = rows_of({{"abcdefgh1jklmnopqrstuvwxyz"}, {"abcdefgh2jklmnopqrstuvwxyz"}});
  const FittedColumn fitted = ColumnFitter(kCut, rows, 0).fit(18);
  EXPECT_TRUE(fitted.is_lossless());
  EXPECT_THAT(fitted.texts, ElementsAre("abcdefgh1...uvwxyz", "abcdefgh2...uvwxyz"));
}

TEST(FitColumn, DoesNotCutBesideTheDotsOfAForm) {
  const auto rows = rows_of({{"conv/.../c64h56w56k64r3s3p1/.../hot"}});
  for (std::size_t width = 24; width < 35; ++width) {
    const std::string text = ColumnFitter(kCut, rows, 0).fit(width).texts.front();
    EXPECT_EQ(text.find("...."), std::string::npos) << text;
  }
}

TEST(FitColumn, TheSameCellInTwoRowsIsNoLoss) {
  const auto rows = rows_of({{"abcdefghijklmnop"}, {"abcdefghijklmnop"}});
  EXPECT_TRUE(ColumnFitter(kCut, rows, 0).fit(12).is_lossless());
}

TEST(FitColumn, WhatNoCutTellsApartIsLossy) {
  const auto rows = rows_of({{"abcdefghijXlmnopqrstu"}, {"abcdefghijYlmnopqrstu"}, {"short"}});
  EXPECT_THAT(ColumnFitter(kCut, rows, 0).fit(9).is_lossy, ElementsAre(true, true, false));
}

TEST(FitColumn, AColumnThatIsNeverCutKeepsItsShortestForm) {
  const auto rows = rows_of({{"ok noisy disturbed", Tone::plain, {"ok noisy +1"}}, {"ok"}});
  EXPECT_EQ(ColumnFitter(kWhole, rows, 0).narrowest_width(), 11u);
  const FittedColumn fitted = ColumnFitter(kWhole, rows, 0).fit(5);
  EXPECT_THAT(fitted.texts, ElementsAre("ok noisy +1", "ok"));
  EXPECT_THAT(fitted.is_lossy, ElementsAre(true, false));
}

TEST(FitColumn, AFitterFindsForEachWidthWhatANewOneFinds) {
  const auto rows = rows_of({{"conv/forward/a1b2c3d4e5f6g7/hot", Tone::plain, {"conv/.../g7"}},
                             {"conv/forward/a1b2c3d4e5f6h7/hot", Tone::plain, {"conv/.../h7"}},
                             {"conv/forward/a2b2c3d4e5f6h7/hot", Tone::plain, {"conv/.../h7"}}});
  ColumnFitter fitter(kCut, rows, 0);
  for (const std::size_t width : {9u, 30u, 12u, 28u, 20u, 9u, 31u}) {
    const FittedColumn fitted = fitter.fit(width);
    EXPECT_EQ(fitted.texts, ColumnFitter(kCut, rows, 0).fit(width).texts) << width;
    EXPECT_EQ(fitted.is_lossless(), fitter.keeps_rows_distinct(width)) << width;
  }
}

// Earlier, a table of 61 cases in 80 columns showed only the medians, because three cases had two
// flags.
TEST(RenderTable, ACellDropsAFlagBeforeAColumnIsRemoved) {
  const std::vector<TextColumn> columns = {
      {"case", Align::left, 8}, {"GFLOP/s", Align::right, std::nullopt, 1}, {"outcome"}};
  std::vector<TextRow> rows;
  for (const char* id : {"a23456789012345678b", "a23456789X12345678b"}) {
    rows.push_back(
        {{{id}, {"12.5"}, {"ok noisy above_ceiling", Tone::plain, {"ok noisy +1"}}}, ""});
  }
  const std::string table = render_table(columns, rows, 44, Colour::off);
  EXPECT_NE(table.find("GFLOP/s"), std::string::npos) << table;
  EXPECT_NE(table.find("12.5  ok noisy +1"), std::string::npos) << table;
}

TEST(SplitColumns, NeverSplitsACharacter) {
  EXPECT_THAT(split_columns("", 4), IsEmpty());
  EXPECT_THAT(split_columns("abcde", 2), ElementsAre("ab", "cd", "e"));
  EXPECT_THAT(split_columns("\xc3\xa9\xc3\xa9\xc3\xa9", 2),
              ElementsAre("\xc3\xa9\xc3\xa9", "\xc3\xa9"));
  EXPECT_THAT(split_columns("ab", 0), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace bench
