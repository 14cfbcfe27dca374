// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/small_table.hpp"

#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace bench::analysis {
namespace {

std::string wrap_for(const std::string& text, const AnalysisTarget& target) {
  if (!target.terminal_width) return text;
  std::string lines = wrap(text, static_cast<std::size_t>(*target.terminal_width), 0);
  if (lines.ends_with('\n')) lines.pop_back();
  return lines;
}

// The parts of a table that are shown.
class ShownTable {
 public:
  ShownTable(const SmallTable& table, const SmallTableStyle& style)
      : table_(table), people_(style.format->audience == TableFormat::Audience::people) {
    const std::int64_t top = style.top.value_or(people_ ? kDefaultTop : 0);
    const auto all = static_cast<std::int64_t>(table.rows.size());
    rows_ = static_cast<std::size_t>(top == 0 ? all : std::min(top, all));
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (people_ && !has_values(i)) continue;
      const Column& column = table.columns[i].column;
      columns_.push_back(i);
      shape.columns.push_back({&column, std::string(column.heading), width_of(i)});
    }
    shape.answer = table.answer;
    shape.selected = table.selected;
    shape.total = table.total;
  }

  // Drops columns until the table has this width, and shortens texts.
  void fit(std::size_t width) {
    while (narrowest_width(shape.columns, {}) > width) {
      std::size_t worst = 0;
      for (std::size_t i = 1; i < columns_.size(); ++i) {
        if (expendable(i) > expendable(worst)) worst = i;
      }
      if (columns_.empty() || expendable(worst) == 0) break;
      columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(worst));
      shape.columns.erase(shape.columns.begin() + static_cast<std::ptrdiff_t>(worst));
    }
    static_cast<void>(fit_width(shape.columns, width));
  }

  void write(TableWriter& writer) const {
    for (std::size_t i = 0; i < rows_; ++i) write_row(table_.rows[i], writer);
    if (!people_) return;
    for (const std::vector<Cell>& row : table_.statistics) write_row(row, writer);
  }

  std::size_t rows() const { return rows_; }
  bool is_for_people() const { return people_; }

  TableShape shape;

 private:
  bool has_values(std::size_t column) const {
    return std::ranges::any_of(table_.rows,
                               [&](const std::vector<Cell>& row) { return is_known(row[column]); });
  }

  std::size_t expendable(std::size_t shown) const {
    return table_.columns[columns_[shown]].expendable;
  }

  std::size_t width_of(std::size_t index) const {
    const Column& column = table_.columns[index].column;
    std::size_t width = std::max(display_width(column.heading), column.absent.size());
    const auto widen = [&](const std::vector<Cell>& row) {
      if (is_known(row[index]))
        width = std::max(width, display_width(readable(row[index], column.quantity)));
    };
    for (std::size_t i = 0; i < rows_; ++i) widen(table_.rows[i]);
    for (const std::vector<Cell>& row : table_.statistics) widen(row);
    return width;
  }

  void write_row(const std::vector<Cell>& row, TableWriter& writer) const {
    std::vector<Cell> cells;
    for (const std::size_t column : columns_) cells.push_back(row[column]);
    writer.row(cells);
  }

  const SmallTable& table_;
  bool people_;
  std::size_t rows_ = 0;
  std::vector<std::size_t> columns_;  // those that are shown
};

}  // namespace

Column text_only_column(std::string_view name, std::string_view heading) {
  Column column;
  column.name = name;
  column.heading = heading;
  return column;
}

Column number_only_column(std::string_view name, std::string_view heading, Quantity quantity) {
  Column column = text_only_column(name, heading);
  column.quantity = quantity;
  column.numeric = true;
  return column;
}

Result<SmallTableStyle> choose_style(const AnalysisOptions& options) {
  SmallTableStyle style{nullptr, options.top, options.width};
  BENCH_ASSIGN_OR_RETURN(style.format, find_table_format(options.format.value_or("table")));
  if (options.width && style.format->name != "table") {
    return Error{fmt::format("format `{}` has no width", style.format->name), "--width",
                 "only --format table supports a width"};
  }
  return style;
}

Status write_small_table(const SmallTable& table, const SmallTableStyle& style,
                         const AnalysisTarget& target, AnalysisOutcome& outcome) {
  ShownTable shown(table, style);
  const bool is_table = style.format->name == "table";
  if (style.width) {
    // Drops columns as on a terminal of this width, and refuses only what is still too wide.
    shown.fit(static_cast<std::size_t>(*style.width));
    BENCH_RETURN_IF_ERROR(fit_width(shown.shape.columns, static_cast<std::size_t>(*style.width)));
  } else if (is_table && target.terminal_width) {
    shown.fit(static_cast<std::size_t>(*target.terminal_width));
  }
  std::vector<std::string> below;
  if (shown.is_for_people()) {
    if (!table.answer.empty()) shown.shape.notes.push_back(wrap_for(table.answer, target));
    for (const std::string& note : table.notes_above)
      shown.shape.notes.push_back(wrap_for(note, target));
    if (shown.rows() < table.rows.size()) {
      below.push_back(
          fmt::format("{} of {} rows; -t 0 shows all", shown.rows(), table.rows.size()));
    }
    for (const std::string& note : table.notes_below) below.push_back(wrap_for(note, target));
  } else {
    for (const auto* const notes : {&table.notes_above, &table.notes_below})
      outcome.notes.insert(outcome.notes.end(), notes->begin(), notes->end());
  }
  if (style.format->answer == TableFormat::Answer::beside) outcome.answer = table.answer;
  outcome.selected = table.selected;
  outcome.shown = static_cast<std::int64_t>(shown.rows());
  const auto writer = style.format->make(shown.shape, *target.out);
  writer->begin();
  shown.write(*writer);
  writer->end(below);
  return Done{};
}

}  // namespace bench::analysis
