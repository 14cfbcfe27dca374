// SPDX-License-Identifier: Apache-2.0
// The tables of a document as data. Each format is one function over them: text_table() for a
// terminal, markdown_row(), Page::table() (page.hpp). A table that differs between formats declares
// its columns once, as a list of TableField: which formats have a column, and its cells.
#pragma once

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "profiler/analysis/cell.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// id: of a case or another long name, with parts that a format may leave out or break. prose: may
// be long. markup: Markdown that is written as it is.
enum class ColumnKind { id, text, prose, number, markup };

struct TableColumn {
  std::string heading;
  ColumnKind kind = ColumnKind::text;
  std::optional<std::size_t> narrowest = std::nullopt;  // as TextColumn::narrowest
  int expendable = 0;                                   // as TextColumn::expendable
};

struct TableCell {
  std::string text;
  analysis::Cell value = {};  // for a CSV; the sort key of a number on a page
  Tone tone = Tone::plain;
};

struct TableRow {
  std::vector<TableCell> cells;  // one per column
  std::string note = {};         // only in a terminal: text below the row
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
};

template <class Number>
analysis::Cell to_cell(const std::optional<Number>& number) {
  return number ? analysis::Cell{*number} : analysis::Cell{};
}
// Returns the cell of a text, which is also its value.
TableCell make_text_cell(std::string_view text, Tone tone = Tone::plain);
TableCell make_time_cell(const std::optional<Nanoseconds>& time,
                         std::string_view unknown = kUnknown);
// Returns "+5.1 %" for 0.051.
TableCell make_change_cell(const std::optional<double>& fraction);

// The formats that have a column, as bits.
enum InFormat : unsigned { in_text = 1, in_markdown = 2, in_page = 4, in_csv = 8, in_all = 15 };

template <class Row>
struct TableField {
  unsigned formats;
  std::string_view heading;
  ColumnKind kind;
  TableCell (*cell)(const Row& row);
  std::optional<std::size_t> narrowest = std::nullopt;
  int expendable = 0;
  std::string_view name = {};  // in a CSV; empty: the heading
};

// Returns the columns that `format` has, with a row for each of `rows`.
template <class Row, std::size_t Fields>
Table make_table(const std::array<TableField<Row>, Fields>& fields, InFormat format,
                 const std::vector<Row>& rows) {
  Table table{{}, std::vector<TableRow>(rows.size())};
  for (const TableField<Row>& field : fields) {
    if ((field.formats & format) == 0) continue;
    const bool is_named = format == in_csv && !field.name.empty();
    table.columns.push_back({std::string(is_named ? field.name : field.heading), field.kind,
                             field.narrowest, field.expendable});
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].cells.push_back(field.cell(rows[i]));
  }
  return table;
}

// Returns the lines of render_table() (base/table.hpp). Ids that may be cut are shortened first.
std::string text_table(const Table& table, std::size_t width, Colour colour);

// Return the lines of a table in Markdown. `number_rule`: what aligns numbers to the right.
std::string markdown_heading(const std::vector<TableColumn>& columns,
                             std::string_view number_rule = "--:");
std::string markdown_row(const std::vector<TableColumn>& columns, const TableRow& row);
std::string markdown_table(const Table& table, std::string_view number_rule = "--:");

}  // namespace bench
