// SPDX-License-Identifier: Apache-2.0
// How tables over activities are written: one row a format.
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
  std::size_t width = 0;  // of the widest value that is text, heading included
};

struct TableShape {
  std::vector<TableColumn> columns;
  std::vector<std::string> notes;  // lines for people, above the table
  std::int64_t selected = 0;
  Nanoseconds total{0};
};

// Writes rows as they come. Errors of the stream are in its state.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  virtual void begin() = 0;
  virtual void row(const std::vector<Cell>& cells) = 0;  // as many as columns
  virtual void end(const std::vector<std::string>& remarks) = 0;
};

struct TableFormat {
  std::string_view name;
  std::string_view help;
  enum class Audience { people, programs } audience;
  std::unique_ptr<TableWriter> (*make)(const TableShape& shape, std::ostream& out);
};

std::span<const TableFormat> table_formats();
// Error: the nearest name.
Result<const TableFormat*> find_table_format(std::string_view name);

// The least that a table of these columns takes, with its texts cut to their narrowest.
std::size_t narrowest_width(const std::vector<TableColumn>& columns);

// Narrows columns of text until the table has `width` characters. Error: it cannot, with the
// least that it needs.
Status fit_width(std::vector<TableColumn>& columns, std::size_t width);

}  // namespace bench::analysis
