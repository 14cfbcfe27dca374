// SPDX-License-Identifier: Apache-2.0
// A table whose rows are all known, in any format of table_formats(): the answers to questions that
// are not queries.
#pragma once

#include "base/result.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/table_format.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench::analysis {

// Text and number columns without values of activities.
Column text_only_column(std::string_view name, std::string_view heading);
Column number_only_column(std::string_view name, std::string_view heading, Quantity quantity);

struct SmallTable {
  struct Shown {
    Column column;
    std::size_t expendable = 0;  // 0: always shown; else the largest is dropped first if too wide
  };
  std::vector<Shown> columns;
  std::vector<std::vector<Cell>> rows;        // all, in the order in which they are shown
  std::vector<std::vector<Cell>> statistics;  // below them, only for people
  std::string answer;                         // begins the output; on standard error for csv, space
  std::vector<std::string> notes_above, notes_below;  // for people, wrapped like the answer
  std::int64_t selected = 0;
  Nanoseconds total{0};
};

struct SmallTableStyle {
  const TableFormat* format = nullptr;
  std::optional<std::int64_t> top;    // rows shown; 0: all; default as for a query
  std::optional<std::int64_t> width;  // --width
};
// Returns an error for an unknown format, or a width of a format that has none.
Result<SmallTableStyle> choose_style(const AnalysisOptions& options);

// Writes the table, and puts what has no place in it into the outcome.
Status write_small_table(const SmallTable& table, const SmallTableStyle& style,
                         const AnalysisTarget& target, AnalysisOutcome& outcome);

}  // namespace bench::analysis
