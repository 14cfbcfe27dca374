// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table.hpp"

#include "base/text.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace bench {
namespace {

const std::vector<Column> kColumns = {{"name", Align::left, 6, 0},
                                      {"value", Align::right, std::nullopt, 0},
                                      {"extra", Align::left, std::nullopt, 1}};

TEST(Table, AlignsColumns) {
  const std::vector<Row> rows = {{{{"a"}, {"1"}, {"x"}}, ""}, {{{"bcd"}, {"12345678"}, {""}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::off),
            "name     value  extra\n"
            "a            1  x\n"
            "bcd   12345678\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  const std::vector<Row> rows = {{{{"\xc3\xa9\xc3\xa9"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::off),
            "name  value  extra\n"
            "\xc3\xa9\xc3\xa9        1  x\n");
}

TEST(Table, ShortensThenDropsWhatIsExpendable) {
  const std::vector<Row> rows = {{{{"a long long name"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 22, Colour::off),
            "name      value  extra\n"
            "a l...me      1  x\n");
  EXPECT_EQ(render_table(kColumns, rows, 15, Colour::off),
            "name      value\n"
            "a l...me      1\n");
}

TEST(Table, KeepsTheNarrowestWidthWhereNothingFits) {
  const std::vector<Row> rows = {{{{"a long long name"}, {"1"}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 5, Colour::off),
            "name    value\n"
            "a ...e      1\n");
}

TEST(Table, NotesWrapBelowTheirRow) {
  const std::vector<Row> rows = {{{{"a"}, {"1"}, {"x"}}, "no CUDA device was found here"}};
  EXPECT_EQ(render_table(kColumns, rows, 20, Colour::off),
            "name  value  extra\n"
            "a         1  x\n"
            "    no CUDA device\n"
            "    was found here\n");
}

TEST(Table, ColourDoesNotShiftColumns) {
  const std::vector<Row> rows = {{{{"a", Tone::bad}, {"1", Tone::good}, {"x"}}, ""}};
  EXPECT_EQ(render_table(kColumns, rows, 80, Colour::on),
            "\x1b[1mname\x1b[0m  \x1b[1mvalue\x1b[0m  \x1b[1mextra\x1b[0m\n"
            "\x1b[31ma\x1b[0m         \x1b[32m1\x1b[0m  x\n");
}

TEST(Table, ControlCharactersOfFilesNeverReachTheTerminal) {
  const std::vector<Row> rows = {{{{"a\x1b[2J\n"}, {"1"}, {"x"}}, "b\x1b]0;x\x07"}};
  const std::string text = render_table(kColumns, rows, 80, Colour::off);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_EQ(text,
            "name          value  extra\n"
            "a\\x1b[2J\\x0a      1  x\n"
            "    b\\x1b]0;x\\x07\n");
}

TEST(Wrap, WordsWithinTheWidth) {
  EXPECT_EQ(wrap("", 10, 0), "");
  EXPECT_EQ(wrap("  ", 10, 2), "");
  EXPECT_EQ(wrap("one two three", 8, 0), "one two\nthree\n");
  EXPECT_EQ(wrap("one  two", 8, 2), "  one\n  two\n");
  EXPECT_EQ(wrap("incomprehensibilities", 10, 0), "inco...ies\n");
}

TEST(Paint, PlainWithoutColour) {
  EXPECT_EQ(paint("x", Tone::bad, Colour::off), "x");
  EXPECT_EQ(paint("x", Tone::plain, Colour::on), "x");
  EXPECT_EQ(paint("", Tone::bad, Colour::on), "");
  EXPECT_EQ(paint("x", Tone::warning, Colour::on), "\x1b[33mx\x1b[0m");
}

}  // namespace
}  // namespace bench
