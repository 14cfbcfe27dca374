// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include "base/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

const std::vector<TextColumn> kColumns = {{"name", Align::left, 6, 0},
                                          {"value", Align::right, std::nullopt, 0},
                                          {"extra", Align::left, std::nullopt, 1}};

TEST(Table, AlignsColumns) {
  const std::vector<TextRow> rows = {{{{"a"}, {"1"}, {"x"}}, ""},
                                     {{{"bcd"}, {"12345678"}, {""}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::off),
            "name     value  extra\n"
            "a            1  x\n"
            "bcd   12345678\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  const std::vector<TextRow> rows = {{{{"\xc3\xa9\xc3\xa9"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::off),
            "name  value  extra\n"
            "\xc3\xa9\xc3\xa9        1  x\n");
}

TEST(Table, ShortensThenDropsWhatIsExpendable) {
  const std::vector<TextRow> rows = {{{{"a long long name"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 22, Colour::off),
            "name      value  extra\n"
            "a l...me      1  x\n");
  EXPECT_EQ(render_table(kColumns, rows, 15, Colour::off),
            "name      value\n"
            "a l...me      1\n");
}

TEST(Table, KeepsTheNarrowestWidthWhereNothingFits) {
  const std::vector<TextRow> rows = {{{{"a long long name"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 5, Colour::off),
            "name    value\n"
            "a ...e      1\n");
}

std::vector<std::string> table_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Table, FlagsAreNeverCut) {
  const std::vector<TextColumn> columns = {{"case", Align::left, 10}, {"outcome"}};
  const std::vector<TextRow> rows = {
      {{{"conv/forward/c64h56"}, {"ok noisy interrupted", Tone::plain, {"ok noisy +1"}}}, ""},
      {{{"gemm/forward/m1n1k1"}, {"ok interrupted"}}, ""}};
  EXPECT_EQ(render_table(columns, rows, 32, Colour::off),
            "case        outcome\n"
            "conv...h56  ok noisy interrupted\n"
            "gemm...1k1  ok interrupted\n");
  EXPECT_EQ(render_table(columns, rows, 26, Colour::off),
            "case        outcome\n"
            "conv...h56  ok noisy +1\n"
            "    outcome: ok noisy inte\n"
            "    rrupted\n"
            "gemm...1k1  ok interrupted\n");
}

TEST(Table, FlagsGoBelowTheRowBeforeColumnsGo) {
  const std::vector<TextColumn> columns = {
      {"case", Align::left, 10}, {"rate", Align::right, std::nullopt, 1}, {"outcome"}};
  const std::vector<TextRow> rows = {
      {{{"conv/forward/c64h56"}, {"12345"}, {"ok noisy interrupted", Tone::plain, {"ok noisy +1"}}},
       ""}};
  EXPECT_EQ(render_table(columns, rows, 34, Colour::off),
            "case         rate  outcome\n"
            "conv...h56  12345  ok noisy +1\n"
            "    outcome: ok noisy interrupted\n");
  EXPECT_EQ(render_table(columns, rows, 26, Colour::off),
            "case        outcome\n"
            "conv...h56  ok noisy +1\n"
            "    outcome: ok noisy inte\n"
            "    rrupted\n");
}

TEST(Table, IdsAreCutWhereTheyDiffer) {
  const std::vector<TextColumn> columns = {{"case", Align::left, 20}};
  const std::vector<TextRow> rows = {{{{"conv/forward/n1c64h56w56k64r3s3/f32/hot"}}, ""},
                                     {{{"conv/forward/n1c64h28w28k64r3s3/f32/hot"}}, ""}};
  const std::string text = render_table(columns, rows, 30, Colour::off);
  const std::vector<std::string> lines = table_lines(text);
  ASSERT_EQ(lines.size(), 3u) << text;
  EXPECT_NE(lines[1], lines[2]) << text;
  EXPECT_EQ(lines[1].find("..."), lines[2].find("...")) << text;
}

TEST(Table, RowsInACutColumnHaveTheSameForm) {
  const std::vector<TextColumn> columns = {{"case", Align::left, 10}};
  const std::vector<TextRow> rows = {{{{"a/forward/x", Tone::plain, {"a/.../x"}}}, ""},
                                     {{{"b/forward/long", Tone::plain, {"b/.../long"}}}, ""}};
  EXPECT_EQ(render_table(columns, rows, 12, Colour::off), "case\na/.../x\nb/.../long\n");
}

TEST(Table, AFormThatMakesRowsLookAlikeIsNotTaken) {
  const std::vector<TextColumn> columns = {{"case", Align::left, 8}};
  const std::vector<TextRow> rows = {
      {{{"conv/aaaaaa/cpu/hot", Tone::plain, {"conv/.../hot"}}}, ""},
      {{{"conv/aaaaaa/gpu/hot", Tone::plain, {"conv/.../hot"}}}, ""}};
  const std::vector<std::string> lines = table_lines(render_table(columns, rows, 18, Colour::off));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1], lines[2]);
}

TEST(Table, RowsThatNoCutTellsApartAreShownWholeBelow) {
  const std::vector<TextColumn> columns = {{"case", Align::left, 12}};
  const std::vector<TextRow> rows = {{{{"a1234567890b1234567890c"}}, ""},
                                     {{{"a1234567890x1234567890c"}}, ""}};
  EXPECT_EQ(render_table(columns, rows, 12, Colour::off),
            "case\n"
            "a1234...890c\n"
            "    case: a1\n"
            "    23456789\n"
            "    0b123456\n"
            "    7890c\n"
            "a1234...890c\n"
            "    case: a1\n"
            "    23456789\n"
            "    0x123456\n"
            "    7890c\n");
}

TEST(Table, NotesWrapBelowTheirRow) {
  const std::vector<TextRow> rows = {{{{"a"}, {"1"}, {"x"}}, "no CUDA device was found here"}};
  EXPECT_EQ(render_table(kColumns, rows, 20, Colour::off),
            "name  value  extra\n"
            "a         1  x\n"
            "    no CUDA device\n"
            "    was found here\n");
}

TEST(Table, ColourDoesNotShiftColumns) {
  const std::vector<TextRow> rows = {{{{"a", Tone::bad}, {"1", Tone::good}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::on),
            "\x1b[1mname\x1b[0m  \x1b[1mvalue\x1b[0m  \x1b[1mextra\x1b[0m\n"
            "\x1b[31ma\x1b[0m         \x1b[32m1\x1b[0m  x\n");
}

TEST(Table, ControlCharactersOfFilesNeverReachTheTerminal) {
  const std::vector<TextRow> rows = {{{{"a\x1b[2J\n"}, {"1"}, {"x"}}, "b\x1b]0;x\x07"}};
  const std::string text = render_table(kColumns, rows, 80, Colour::off);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text,
            "name          value  extra\n"
            "a\\x1b[2J\\x0a      1  x\n"
            "    b\\x1b]0;x\\x07\n");
}

}  // namespace
}  // namespace bench
