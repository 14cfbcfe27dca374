// SPDX-License-Identifier: Apache-2.0
// Output formats for activity tables: one row per format.
#pragma once

#include "base/result.hpp"
#include "profiler/analysis/column.hpp"

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::analysis {

struct TableColumn {
  const Column* column = nullptr;
  std::string heading;
  std::size_t width = 0;  // width of the widest text value, including the heading
};

struct TableShape {
  std::vector<TableColumn> columns;
  std::string audit;               // audit_json()
  std::string answer;              // which part of the wall time was recorded; may be empty
  std::vector<std::string> notes;  // human-readable lines above the table, `answer` included
  std::int64_t selected = 0;
  Nanoseconds total{0};
};

// Writes rows as they come. The state of the stream shows its errors.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void begin() = 0;
  virtual void row(const std::vector<Cell>& cells) = 0;  // one cell per column
  virtual void end(const std::vector<std::string>& notes) = 0;
};

struct TableFormat {
  std::string_view name;
  std::string_view help;
  enum class Audience { people, programs } audience;
  std::unique_ptr<TableWriter> (*make)(const TableShape& shape, std::ostream& out);
  // Whether the format has a place for TableShape::answer.
  enum class Answer { in_output, beside } answer = Answer::in_output;
};

std::span<const TableFormat> table_formats();
// Returns an error with the nearest name if the format is unknown.
Result<const TableFormat*> find_table_format(std::string_view name);

// Returns the minimum width of a table with these columns, with its texts cut as far as possible.
// The texts of `keys`, by which rows are grouped, stay long enough to distinguish the rows.
std::size_t narrowest_width(const std::vector<TableColumn>& columns,
                            std::span<const Column* const> keys);

// Narrows text columns until the table has `width` characters. Returns an error with the minimum
// width if this is impossible.
Status fit_width(std::vector<TableColumn>& columns, std::size_t width);

}  // namespace bench::analysis
