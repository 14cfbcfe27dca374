// SPDX-License-Identifier: Apache-2.0
#include "harness/report/document.hpp"

#include "base/markup.hpp"
#include "base/table.hpp"
#include "harness/report/short_id.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

namespace bench {

TableCell make_text_cell(std::string_view text, Tone tone) {
  return {std::string(text), text.empty() ? analysis::Cell{} : analysis::Cell{std::string(text)},
          tone};
}

TableCell make_time_cell(const std::optional<Nanoseconds>& time, std::string_view unknown) {
  if (!time) return {std::string(unknown)};
  return {format_time(*time), std::int64_t{time->count()}};
}

TableCell make_change_cell(const std::optional<double>& fraction) {
  if (!fraction) return {std::string(kUnknown)};
  return {fmt::format("{:+.1f} %", 100 * *fraction), *fraction};
}

std::string text_table(const Table& table, std::size_t width, Colour colour) {
  std::vector<TextColumn> columns;
  for (const TableColumn& column : table.columns)
    columns.push_back({column.heading,
                       column.kind == ColumnKind::number ? Align::right : Align::left,
                       column.narrowest, column.expendable});
  std::vector<TextRow> rows;
  for (const TableRow& row : table.rows) {
    TextRow& made = rows.emplace_back(TextRow{{}, row.note});
    for (const TableCell& cell : row.cells) made.cells.push_back({cell.text, cell.tone});
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (table.columns[i].kind == ColumnKind::id && columns[i].narrowest) shorten_ids(rows, i);
  }
  return render_table(columns, std::move(rows), width, colour);
}

std::string markdown_heading(const std::vector<TableColumn>& columns,
                             std::string_view number_rule) {
  std::string line = "|", rule = "|";
  for (const TableColumn& column : columns) {
    line += fmt::format(" {} |", escape_markdown(column.heading));
    rule += fmt::format("{}|", column.kind == ColumnKind::number ? number_rule : "---");
  }
  return line + "\n" + rule + "\n";
}

std::string markdown_row(const std::vector<TableColumn>& columns, const TableRow& row) {
  std::string line = "|";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& text = row.cells[i].text;
    line += fmt::format(" {} |", columns[i].kind == ColumnKind::markup  ? text
                                 : columns[i].kind == ColumnKind::prose ? markdown_sentence(text)
                                                                        : escape_markdown(text));
  }
  return line + "\n";
}

std::string markdown_table(const Table& table, std::string_view number_rule) {
  std::string text = markdown_heading(table.columns, number_rule);
  for (const TableRow& row : table.rows) text += markdown_row(table.columns, row);
  return text;
}

}  // namespace bench
