// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/table_format.hpp"

#include "base/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace bench::analysis {
namespace {

using testing::HasSubstr;
using testing::Not;

TableColumn column(const char* name, std::size_t width) {
  const Column* found = *find_column(name);
  return {found, std::string(found->heading), std::max(width, found->heading.size())};
}

TableShape shape_of(std::vector<TableColumn> columns) {
  TableShape shape;
  shape.columns = std::move(columns);
  shape.notes = {"a note"};
  shape.selected = 2;
  shape.total = Nanoseconds(1500);
  return shape;
}

std::string written(const char* format, const TableShape& shape,
                    const std::vector<std::vector<Cell>>& rows) {
  const auto found = find_table_format(format);
  EXPECT_TRUE(found.ok());
  std::ostringstream out;
  const auto writer = (*found)->make(shape, out);
  writer->begin();
  for (const auto& row : rows) writer->row(row);
  writer->end({"a note"});
  return out.str();
}

const std::vector<std::vector<Cell>> kRows = {
    {std::string("conv 1"), std::int64_t{1000}, std::string("a,\"b\"")},
    {std::string("relu"), Cell(), Cell()}};

TableShape shape() {
  return shape_of({column("name", 6), column("time_ns", 8), column("reason", 6)});
}

TEST(TableFormat, TableAlignsNumbersToTheRightAndShowsWhatIsUnknown) {
  EXPECT_EQ(written("table", shape(), kRows),
            "a note\n\n"
            "name        time  reason\n"
            "conv 1  1.000 us  a,\"b\"\n"
            "relu         n/a  n/a\n"
            "a note\n");
}

TEST(TableFormat, SpaceGivesAwkOneWordAField) {
  EXPECT_EQ(written("space", shape(), kRows),
            "name time_ns reason\n"
            "conv_1 1000 a,\"b\"\n"
            "relu n/a n/a\n");
}

TEST(TableFormat, CsvQuotesTextAndLeavesUnknownEmpty) {
  EXPECT_EQ(written("csv", shape(), kRows),
            "name,time_ns,reason\n"
            "\"conv 1\",1000,\"a,\"\"b\"\"\"\n"
            "\"relu\",,\n");
}

TEST(TableFormat, JsonLeavesUnknownOut) {
  const auto json = nlohmann::json::parse(written("json", shape(), kRows));
  EXPECT_EQ(json["selected"], 2);
  EXPECT_EQ(json["total_ns"], 1500);
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["rows"][0],
            (nlohmann::json{{"name", "conv 1"}, {"time_ns", 1000}, {"reason", "a,\"b\""}}));
  EXPECT_EQ(json["rows"][1], (nlohmann::json{{"name", "relu"}}));
}

TEST(TableFormat, JsonWithoutRowsIsStillJson) {
  EXPECT_EQ(nlohmann::json::parse(written("json", shape(), {}))["rows"].size(), 0u);
}

TEST(TableFormat, MarkdownIsATableInWhichNamesAreNoMarkup) {
  EXPECT_EQ(written("markdown", shape_of({column("name", 6), column("time_ns", 8)}),
                    {{std::string("<b>|`*[x](y)\\&"), std::int64_t{1000}}}),
            "a note  \n\n"
            "| name | time |\n"
            "| --- | ---: |\n"
            "| &lt;b>\\|\\`\\*\\[x\\](y)\\\\&amp; | 1.000 us |\n"
            "\na note\n");
}

TEST(TableFormat, NoFormatHasARawEscapeSequence) {
  const TableShape shape = shape_of({column("name", 60)});
  const std::string name =
      "\x1b]0;title\x07 \xc2\x9b"
      "31m \x7f\xff\r\n";
  for (const TableFormat& format : table_formats()) {
    const std::string text = written(format.name.data(), shape, {{name}});
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << format.name;
    EXPECT_THAT(text, Not(HasSubstr("\xc2\x9b"))) << format.name;
    for (const char control : {'\x07', '\x7f', '\r'}) {
      EXPECT_EQ(text.find(control), std::string::npos) << format.name;
    }
    EXPECT_THAT(text, HasSubstr("title")) << format.name;
  }
  const auto json = nlohmann::json::parse(written("json", shape, {{name}}));
  EXPECT_EQ(json["rows"][0]["name"],
            "\x1b]0;title\x07 \xc2\x9b"
            "31m \x7f\xef\xbf\xbd\r\n");
}

TEST(TableFormat, CsvHasOneLineForEachRowAndNoControlCharacter) {
  const std::string text =
      written("csv", shape_of({column("name", 6)}), {{std::string("a\n::error::b\x1b \xc3\xa9")}});
  EXPECT_EQ(text, "name\n\"a\\x0a::error::b\\x1b \xc3\xa9\"\n");
}

TEST(TableFormat, CsvDoublesEachQuote) {
  const auto cell = [](std::string_view text) {
    return written("csv", shape_of({column("name", 6)}), {{std::string(text)}});
  };
  EXPECT_EQ(cell(""), "name\n\"\"\n");
  EXPECT_EQ(cell("\"a\"\"b\""), "name\n\"\"\"a\"\"\"\"b\"\"\"\n");
  EXPECT_EQ(cell("\xc3\xa9\""), "name\n\"\xc3\xa9\"\"\"\n");
}

TEST(TableFormat, CsvCellsThatBeginAFormulaBeginWithAnApostrophe) {
  const auto cell = [](const std::string& text) {
    const std::string csv = written("csv", shape_of({column("name", 6)}), {{text}});
    return csv.substr(5, csv.size() - 6);
  };
  EXPECT_EQ(cell("=HYPERLINK(\"http://x\")"), "\"'=HYPERLINK(\"\"http://x\"\")\"");
  for (const std::string formula :
       {"+1+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "=1", "\xef\xbc\x9d=1", "--1.5", "-x"}) {
    EXPECT_EQ(cell(formula), "\"'" + formula + '"');
  }
  for (const std::string other : {"-1.5", "+3", "-2e-9", "1e5", "-", "a=b"}) {
    EXPECT_EQ(cell(other), '"' + other + '"');
  }
  // Control characters before the sign are escaped, so the cell no longer begins with the sign.
  EXPECT_EQ(cell("\t=1"), "\"\\x09=1\"");
}

TEST(TableFormat, AnUnknownOneIsAnErrorWithTheNearest) {
  const auto format = find_table_format("markdwn");
  ASSERT_FALSE(format.ok());
  EXPECT_THAT(format.error().message(), HasSubstr("unknown format `markdwn`"));
  EXPECT_THAT(format.error().message(), HasSubstr("markdown"));
}

TEST(TableFormat, ANumberOrUnknownCellIsNeverCut) {
  TableShape narrow = shape_of({column("op", 2), column("time_ns", 4)});
  EXPECT_EQ(narrow.columns[0].width, 2u);
  const std::string text =
      written("table", narrow, {{Cell(), std::int64_t{123'456'000}}, {std::string("ab"), Cell()}});
  EXPECT_THAT(text, HasSubstr("\nn/a  123.5 ms\n"));
  EXPECT_THAT(text, HasSubstr("\nab   n/a\n"));
}

std::size_t total(const std::vector<TableColumn>& columns) {
  std::size_t sum = 2 * (columns.size() - 1);
  for (const TableColumn& each : columns) sum += each.width;
  return sum;
}

TEST(FitWidth, NarrowsTextsFromTheWidestOnAndNumbersNever) {
  std::vector<TableColumn> columns = {column("name", 200), column("time_ns", 9),
                                      column("reason", 40)};
  ASSERT_TRUE(fit_width(columns, 80).ok());
  EXPECT_LE(total(columns), 80u);
  EXPECT_GE(total(columns), 79u);
  EXPECT_EQ(columns[1].width, 9u);
  EXPECT_GE(columns[2].width, 30u);
  ASSERT_TRUE(fit_width(columns, 200).ok());  // nothing becomes wider
  EXPECT_LE(total(columns), 80u);
}

// Earlier, layers of a network in a terminal of 80 columns were all "resnet....conv2".
TEST(NarrowestWidth, TheTextsThatNameTheRowsStayLongEnoughToDistinguishThem) {
  const std::vector<TableColumn> columns = {column("name", 200), column("reason", 40)};
  EXPECT_EQ(narrowest_width(columns, {}), 10u + 2 + 10);
  EXPECT_EQ(narrowest_width(columns, {&columns[0].column, 1}), 24u + 2 + 10);
  EXPECT_EQ(narrowest_width({column("name", 12)}, {&columns[0].column, 1}), 12u);
}

TEST(FitWidth, SaysHowWideTheTableMustBe) {
  std::vector<TableColumn> columns = {column("name", 200), column("time_ns", 9)};
  const Status status = fit_width(columns, 12);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message(), HasSubstr("--width: the table needs a width of 21"));
}

TEST(FitWidth, RowsOfANarrowedTableAreCutInTheMiddle) {
  TableShape narrow = shape_of({column("name", 60), column("reason", 6)});
  ASSERT_TRUE(fit_width(narrow.columns, 18).ok());
  const std::string text =
      written("table", narrow, {{std::string("batch_norm_collect_statistics"), Cell()}});
  EXPECT_THAT(text, HasSubstr("..."));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 18u) << line;
}

}  // namespace
}  // namespace bench::analysis
