// SPDX-License-Identifier: Apache-2.0
// The importer of tables that other profilers print. A mapping states what each column means; the
// importer finds the header, splits rows, counts and notes what it cannot read, and makes one
// activity per row. A table is separated by tabs, commas or blanks, or aligned; or each line is a
// dictionary as Python prints it, whose keys are the columns.
#pragma once

#include "base/text.hpp"
#include "profiler/readers/delimited.hpp"
#include "profiler/readers/readers.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

// A row while its columns are read.
struct TableRow {
  Activity activity;
  bool bad_time = false;        // a time is not a number in range, so the row is dropped
  std::int64_t unreadable = 0;  // number of other values that could not be read
  std::map<std::string, std::string> facts;  // what describes the machine
};

// A known value of a column. `unit` is what 1 of the table's unit is in ours: ns or bytes.
struct TableCell {
  std::string_view text;
  double unit = 1;
};

enum class TableContent { text, number };

struct TableColumn {
  std::string_view header;
  TableContent content = TableContent::text;  // decides how an aligned value is found
  void (*set)(TableRow& row, const TableCell& cell) = nullptr;
  // Width of an aligned text column, if it does not depend on the width of the table.
  std::size_t printed_width = 0;
  // Minimum length of an aligned header that is cut to the column's width; 0 if it is never cut.
  std::size_t min_header_size = 0;
  char list_separator = ',';  // between the items of a list in a dictionary
};

struct TableUnit {
  std::string_view name;
  double factor;
};

// Activities whose name begins so are of this kind.
struct TableKind {
  std::string_view name_begin;
  ActivityKind kind;
};

// Completes a row with knowledge that its columns do not have, or that of earlier rows.
class TableFinisher {
 public:
  virtual ~TableFinisher() = default;
  virtual void finish(Activity& activity) = 0;
};

struct TableMapping {
  enum class Form { delimited, dictionary };
  // Whether a header with an unknown name is a header. A table that contains prose refuses it.
  enum class UnknownColumns { refused, ignored };
  // Where the table states units: nowhere, in the headers ("Start (ns)") or in a row below them.
  enum class Units { none, in_header, in_row };

  std::string_view format;  // name of the reader
  Form form = Form::delimited;
  std::span<const TableColumn> columns;
  // A header has at least one of these, and all of the second list.
  std::span<const std::string_view> any_of = {};
  std::span<const std::string_view> all_of = {};
  std::size_t min_columns = 1;  // a line with fewer names could be prose
  // A header in quotes, which cannot be prose, needs one of these instead of any_of.
  std::span<const std::string_view> any_of_quoted = {};
  UnknownColumns unknown_columns = UnknownColumns::refused;
  std::string_view row_number = {};  // column of a first header that is a number
  Units units = Units::none;
  std::span<const TableUnit> unit_names = {};
  std::span<const TableKind> kinds = {};  // kernels, if none fits
  StartTimes starts = StartTimes::computed;
  // Texts that stand for unknown values.
  std::span<const std::string_view> unknown_values = {};
  // Columns that name what ran: if an aligned value fills its column, it may be cut. What prints
  // the table completely.
  std::span<const std::string_view> naming_columns = {};
  std::string_view prints_completely = {};
  std::unique_ptr<TableFinisher> (*make_finisher)() = nullptr;
};

bool recognises_table(const TableMapping& mapping, std::string_view head);
Result<ReadReport> read_table(const TableMapping& mapping, TextSource& source, ActivitySink& sink);

// Makes the reader of a mapping, which must have static storage duration.
template <const TableMapping& kMapping>
constexpr ActivityReader table_reader(std::string_view help) {
  return {.name = kMapping.format,
          .help = help,
          .recognises = [](std::string_view head) { return recognises_table(kMapping, head); },
          .read = [](TextSource& source,
                     ActivitySink& sink) { return read_table(kMapping, source, sink); }};
}

// Converters for columns.

// Reads an integer, also in another notation: "1.0", "1e6".
std::optional<std::int64_t> whole_number(std::string_view text);

template <Attribute kAttribute>
void set_text(TableRow& row, const TableCell& cell) {
  row.activity.attributes.set(kAttribute, cell.text);
}
// Adds a part: "32", "4" and "1" of three columns become "32,4,1".
template <Attribute kAttribute>
void append_text(TableRow& row, const TableCell& cell) {
  const std::string_view known = row.activity.attributes.text(kAttribute);
  row.activity.attributes.set(
      kAttribute, known.empty() ? std::string(cell.text) : fmt::format("{},{}", known, cell.text));
}
void set_quantity(TableRow& row, const TableCell& cell, Attribute attribute);
// Sets an integer of at least 0 in the unit of the attribute.
template <Attribute kAttribute>
void set_number(TableRow& row, const TableCell& cell) {
  set_quantity(row, cell, kAttribute);
}
void add_quantity(TableRow& row, const TableCell& cell, Attribute attribute);
// Adds to the value of another column.
template <Attribute kAttribute>
void add_number(TableRow& row, const TableCell& cell) {
  add_quantity(row, cell, kAttribute);
}
void set_name(TableRow& row, const TableCell& cell);
// Sets the short and the long name of a kernel whose name the table has with all arguments.
void set_demangled_name(TableRow& row, const TableCell& cell);
void set_start(TableRow& row, const TableCell& cell);
void set_duration(TableRow& row, const TableCell& cell);
void set_thread(TableRow& row, const TableCell& cell);
void set_device(TableRow& row, const TableCell& cell);
// Reads "NVIDIA H100 PCIe (0)".
void set_device_name(TableRow& row, const TableCell& cell);
void set_stream(TableRow& row, const TableCell& cell);
void set_correlation(TableRow& row, const TableCell& cell);
// For columns that nothing here shows.
void ignore_cell(TableRow& row, const TableCell& cell);

}  // namespace bench
