// SPDX-License-Identifier: Apache-2.0
#include "profiler/readers/table_import.hpp"

#include "base/lines.hpp"
#include "base/python_value.hpp"
#include "base/text.hpp"
#include "profiler/device_number.hpp"
#include "profiler/gpu/kernel_work.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bench {
namespace {

bool contains_text(std::span<const std::string_view> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// Returns the value of a cell in our unit. Without a conversion, it must be an integer.
std::optional<std::int64_t> read_quantity(const TableCell& cell) {
  if (cell.unit == 1) return whole_number(cell.text);
  const auto number = parse_number<double>(cell.text);
  constexpr double kMaxQuantity = 4.6e18;  // below 2^62
  if (!number || !(std::abs(*number * cell.unit) < kMaxQuantity)) return std::nullopt;
  return std::llround(*number * cell.unit);
}

// Returns a time; nullopt if it is not a number from 0 to 2^60 ns. 2^62 ns are 146 years. A kernel
// may take a quarter of it, so that sums of start and duration stay in range.
std::optional<Nanoseconds> read_table_time(const TableCell& cell) {
  constexpr std::int64_t kTimeRange = std::int64_t{1} << 62;
  const auto time = read_quantity(cell);
  if (!time || *time < 0 || *time >= kTimeRange / 4) return std::nullopt;
  return Nanoseconds(*time);
}

const TableColumn* find_table_column(const TableMapping& mapping, std::string_view header) {
  const auto found =
      std::find_if(mapping.columns.begin(), mapping.columns.end(),
                   [&](const TableColumn& column) { return column.header == header; });
  return found == mapping.columns.end() ? nullptr : &*found;
}

// Also finds a column by a header that was cut.
const TableColumn* find_cut_column(const TableMapping& mapping, std::string_view header) {
  if (const TableColumn* column = find_table_column(mapping, header)) return column;
  const auto found = std::find_if(
      mapping.columns.begin(), mapping.columns.end(), [&](const TableColumn& candidate) {
        return candidate.min_header_size > 0 && header.size() >= candidate.min_header_size &&
               candidate.header.starts_with(header);
      });
  return found == mapping.columns.end() ? nullptr : &*found;
}

struct TableLayout {
  Delimiter delimiter = Delimiter::blank;
  std::vector<const TableColumn*> columns;  // nullptr for one that is not known
  std::vector<std::string> units;           // as the table names them; empty for none
  // Column widths of an aligned table, with one blank between columns; otherwise empty.
  std::vector<std::size_t> widths;
};

// Splits "Start (ns)" into "Start" and "ns".
std::pair<std::string_view, std::string_view> split_unit(std::string_view header) {
  const std::size_t open = header.rfind('(');
  if (open == header.npos || !header.ends_with(')')) return {header, {}};
  std::string_view name = header.substr(0, open);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return {name, header.substr(open + 1, header.size() - open - 2)};
}

// Returns the column for a header field. Some tables number their lines, including the header.
const TableColumn* field_column(const TableMapping& mapping, std::string_view field,
                                const TableLayout& layout) {
  const bool is_number = layout.columns.empty() && whole_number(field).has_value();
  if (is_number) return find_table_column(mapping, mapping.row_number);
  return layout.delimiter == Delimiter::blank ? find_cut_column(mapping, field)
                                              : find_table_column(mapping, field);
}

// Returns the widths between the beginnings of the names in an aligned header. The last column
// takes the rest of a row.
std::vector<std::size_t> find_widths(std::string_view header) {
  std::vector<std::size_t> widths;
  std::size_t begin = 0;
  while (begin != std::string_view::npos) {
    const std::size_t end = std::min(header.find(' ', begin), header.size());
    const std::size_t next = header.find_first_not_of(' ', end);
    widths.push_back((next == std::string_view::npos ? header.size() : next - 1) - begin);
    begin = next;
  }
  return widths;
}

// Returns whether the columns are those of a table and not words of prose.
bool is_table_header(const TableMapping& mapping, const TableLayout& layout,
                     std::string_view line) {
  const auto has = [&](std::string_view header) {
    return std::any_of(layout.columns.begin(), layout.columns.end(),
                       [&](const TableColumn* c) { return c != nullptr && c->header == header; });
  };
  if (!std::all_of(mapping.all_of.begin(), mapping.all_of.end(), has)) return false;
  if (mapping.any_of.empty()) return true;
  if (line.starts_with('"'))
    return std::any_of(mapping.any_of_quoted.begin(), mapping.any_of_quoted.end(), has);
  return std::any_of(mapping.any_of.begin(), mapping.any_of.end(), has) &&
         layout.columns.size() >= mapping.min_columns;
}

// Returns the columns if the line is a header of the mapping.
std::optional<TableLayout> read_layout(const TableMapping& mapping, std::string_view line) {
  std::vector<std::string> fields;
  TableLayout layout{detect_delimiter(line), {}, {}, {}};
  while (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_fields(line, layout.delimiter, fields)) return std::nullopt;
  for (const std::string& field : fields) {
    const bool has_unit = mapping.units == TableMapping::Units::in_header;
    const auto [name, unit] =
        has_unit ? split_unit(field) : std::pair(std::string_view(field), std::string_view());
    const TableColumn* column = field_column(mapping, name, layout);
    if (column == nullptr && mapping.unknown_columns == TableMapping::UnknownColumns::refused)
      return std::nullopt;
    layout.columns.push_back(column);
    layout.units.emplace_back(unit);
  }
  if (!is_table_header(mapping, layout, line)) return std::nullopt;
  const bool is_aligned = line.find("  ") != std::string_view::npos || line.ends_with(' ');
  if (layout.delimiter == Delimiter::blank && is_aligned && !line.starts_with(' ')) {
    layout.widths = find_widths(line);
  }
  return layout;
}

// Whether the line may be a header: rows begin with a number or a name, so few lines are examined
// closely.
bool may_be_header(const TableMapping& mapping, std::string_view line) {
  constexpr std::size_t kMaxTableHead = 10'000;
  constexpr std::size_t kNameBegin = 4;  // what remains of a header that was cut
  if (line.size() > kMaxTableHead) return false;
  const auto has = [&](std::string_view header) {
    return line.find(header.substr(0, kNameBegin)) != line.npos;
  };
  if (!std::all_of(mapping.all_of.begin(), mapping.all_of.end(), has)) return false;
  return mapping.any_of.empty() || line.starts_with('"') ||
         std::any_of(mapping.any_of.begin(), mapping.any_of.end(), has);
}

// Returns the field of an aligned row at `position`, and moves `position` to the next field. A
// number that is longer than its column shifts the following fields, as with printf. Texts never
// do.
std::optional<std::string_view> take_aligned(const TableMapping& mapping, std::string_view line,
                                             const TableColumn& column, std::size_t width,
                                             std::size_t& position) {
  std::size_t end = std::min(position + width, line.size());
  std::string_view field;
  if (column.content == TableContent::number) {
    const std::size_t begin = line.find_first_not_of(' ', position);
    if (begin >= end) return std::nullopt;
    const std::size_t number_end = std::min(line.find(' ', begin), line.size());
    field = line.substr(begin, number_end - begin);
    if (!contains_text(mapping.unknown_values, field) && !whole_number(field)) return std::nullopt;
    end = std::max(end, number_end);
  } else if (position < line.size()) {
    field = line.substr(position, end - position);
    if (field.starts_with(' ') && field.find_first_not_of(' ') != std::string_view::npos) {
      return std::nullopt;
    }
    field = field.substr(0, field.find_last_not_of(' ') + 1);
  }
  if (end < line.size() && line[end] != ' ') return std::nullopt;
  position = end + 1;
  return field;
}

// Returns false if the row is not aligned like the header.
bool split_aligned(const TableMapping& mapping, std::string_view line, const TableLayout& layout,
                   std::vector<std::string>& fields) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  fields.resize(layout.columns.size());
  std::size_t position = 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const bool is_last = i + 1 == layout.columns.size();
    const std::size_t width = is_last ? std::max(layout.widths[i], line.size()) : layout.widths[i];
    const auto field = take_aligned(mapping, line, *layout.columns[i], width, position);
    if (!field) return false;
    fields[i] = *field;
  }
  return true;
}

// Returns the text of a value of a dictionary. The items of a list are joined with `separator`.
std::string format_python(const PythonValue& value, char separator) {
  if (value.kind == PythonValue::Kind::word) return value.text();
  if (value.kind == PythonValue::Kind::number) {
    const auto integer = value.integer();
    return integer ? std::to_string(*integer) : fmt::format("{}", value.number);
  }
  std::string text;
  for (const PythonValue& item : value.items) {
    if (!text.empty()) text += separator;
    text += format_python(item, ',');
  }
  return text;
}

// Names the namespaces that Nsight Systems calls `<unnamed>` as demanglers do.
std::string with_anonymous_namespaces(std::string_view name) {
  constexpr std::string_view kUnnamed = "<unnamed>";
  std::string result;
  for (std::size_t at = name.find(kUnnamed); at != name.npos; at = name.find(kUnnamed)) {
    result += name.substr(0, at);
    result += "(anonymous namespace)";
    name.remove_prefix(at + kUnnamed.size());
  }
  result += name;
  return result;
}

class TableReading {
 public:
  TableReading(const TableMapping& mapping, TextSource& source, ActivitySink& sink)
      : mapping_(mapping), source_(source), sink_(sink) {
    if (mapping.make_finisher != nullptr) finisher_ = mapping.make_finisher();
  }

  Result<ReadReport> read() {
    report_.format = mapping_.format;
    report_.starts = mapping_.starts;
    TextSource::Line line;
    while (source_.next(line)) {
      ++report_.lines;
      if (take_header(line) || !split_row(line)) continue;
      BENCH_RETURN_IF_ERROR(take_row(line));
    }
    if (const Status status = source_.status(); !status.ok()) {
      ++report_.malformed;
      report_.note(status.error().message());
    }
    if (!cut_columns_.empty()) {
      report_.note(
          fmt::format("{}: values that fill their column may be cut ({}): `{}` prints "
                      "them completely",
                      source_.name(), fmt::join(cut_columns_, ", "), mapping_.prints_completely));
    }
    return std::move(report_);
  }

 private:
  // Returns whether the line names columns or their units.
  bool take_header(const TextSource::Line& line) {
    if (mapping_.form == TableMapping::Form::dictionary) return false;
    if (expects_units_) {
      expects_units_ = false;
      if (split_fields(line.text, layout_.delimiter, fields_) &&
          fields_.size() == layout_.columns.size()) {
        while (fields_.back().ends_with('\r')) fields_.back().pop_back();
        layout_.units = fields_;
        find_factors(line);
        return true;
      }
    }
    if (!may_be_header(mapping_, line.text)) return false;
    auto layout = read_layout(mapping_, line.text);
    if (!layout) return false;
    layout_ = std::move(*layout);
    expects_units_ = mapping_.units == TableMapping::Units::in_row;
    find_factors(line);
    return true;
  }

  // A column whose unit is unknown is not read.
  void find_factors(const TextSource::Line& line) {
    factors_.assign(layout_.columns.size(), 1);
    for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
      const std::string& unit = layout_.units[i];
      if (unit.empty() || layout_.columns[i] == nullptr) continue;
      const auto found = std::find_if(mapping_.unit_names.begin(), mapping_.unit_names.end(),
                                      [&](const TableUnit& row) { return row.name == unit; });
      if (found != mapping_.unit_names.end()) {
        factors_[i] = found->factor;
        continue;
      }
      ++report_.unknown;
      note(line,
           fmt::format("unknown unit `{}` of the column {}", unit, layout_.columns[i]->header));
      layout_.columns[i] = nullptr;
    }
  }

  // Returns false if the line is not a row, and counts it.
  bool split_row(const TextSource::Line& line) {
    if (mapping_.form == TableMapping::Form::dictionary) return split_dictionary(line);
    if (!layout_.widths.empty() && split_aligned(mapping_, line.text, layout_, fields_)) {
      note_cut_values();
      return !line.text.empty();
    }
    const bool is_split = split_fields(line.text, layout_.delimiter, fields_);
    if (is_split && !layout_.columns.empty() && fields_.size() == layout_.columns.size())
      return true;
    const bool is_prose = layout_.columns.empty() || fields_.size() < 2;
    if (line.text.empty()) return false;
    ++(is_prose ? report_.ignored : report_.malformed);
    if (!is_prose) {
      note(line, is_split
                     ? fmt::format("{} fields, expected {}", fields_.size(), layout_.columns.size())
                     : "a quote is not closed");
    }
    return false;
  }

  // Each dictionary has columns of its own.
  bool split_dictionary(const TextSource::Line& line) {
    if (!line.text.starts_with('{')) {
      if (!line.text.empty()) ++report_.ignored;
      return false;
    }
    const auto row = parse_python_value(line.text);
    if (!row) {
      ++report_.malformed;
      note(line, line.has_end ? "not a dictionary as Python prints it"
                              : "the text ends before this line does");
      return false;
    }
    layout_.columns.clear();
    fields_.clear();
    for (const PythonValue& item : row->items) {
      const TableColumn* column = find_table_column(mapping_, item.keyword);
      if (column == nullptr || item.is("None")) continue;
      layout_.columns.push_back(column);
      fields_.push_back(format_python(item, column->list_separator));
    }
    factors_.assign(fields_.size(), 1);
    if (is_table_header(mapping_, layout_, line.text)) return true;
    ++report_.ignored;
    return false;
  }

  void note_cut_values() {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const TableColumn& column = *layout_.columns[i];
      const bool is_last = i + 1 == fields_.size();
      const std::size_t width = column.printed_width > 0 ? column.printed_width
                                : is_last                ? 0
                                                         : layout_.widths[i];
      const bool is_naming = contains_text(mapping_.naming_columns, column.header);
      if (is_naming && width > 0 && fields_[i].size() >= width) cut_columns_.insert(column.header);
    }
  }

  Status take_row(const TextSource::Line& line) {
    if (!line.has_end && mapping_.form == TableMapping::Form::delimited) {
      ++report_.malformed;
      note(line, "the text ends before this line does: its last number may be cut");
      return Done{};
    }
    row_.activity = Activity();
    row_.activity.kind = ActivityKind::kernel;
    if (mapping_.starts == StartTimes::computed) row_.activity.start = end_;
    row_.bad_time = false;
    row_.unreadable = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      std::string_view text = fields_[i];
      if (i + 1 == fields_.size() && text.ends_with('\r')) text.remove_suffix(1);
      const TableColumn* const column = layout_.columns[i];
      if (column == nullptr || text.empty() || contains_text(mapping_.unknown_values, text))
        continue;
      column->set(row_, {text, factors_[i]});
    }
    if (row_.bad_time) {
      ++report_.malformed;
      note(line, mapping_.units == TableMapping::Units::none
                     ? "the time is not an integer number of nanoseconds"
                     : "a time is missing, negative or too large");
      return Done{};
    }
    if (row_.unreadable > 0) {
      report_.unknown += row_.unreadable;
      note(line, pluralise(row_.unreadable, "value could not be read", "values could not be read"));
    }
    return forward(line);
  }

  Status forward(const TextSource::Line& line) {
    Activity& activity = row_.activity;
    if (activity.name.empty()) activity.name = activity.attributes.text(Attribute::op);
    for (const TableKind& kind : mapping_.kinds) {
      if (activity.name.starts_with(kind.name_begin)) activity.kind = kind.kind;
    }
    activity.attributes.set(Attribute::line, line.number);
    if (finisher_ != nullptr) finisher_->finish(activity);
    advance(activity.duration.value_or(Nanoseconds(0)));
    ++report_.activities;
    report_.facts.merge(row_.facts);
    return sink_.consume(activity);
  }

  void advance(Nanoseconds duration) {
    constexpr Nanoseconds kLast{std::int64_t{1} << 60};
    end_ = std::min(kLast, end_ + duration);
  }

  void note(const TextSource::Line& line, std::string_view what) {
    report_.note(fmt::format("{}:{}: {}", source_.name(), line.number, what));
  }

  const TableMapping& mapping_;
  TextSource& source_;
  ActivitySink& sink_;
  std::unique_ptr<TableFinisher> finisher_;
  ReadReport report_;
  TableLayout layout_;
  std::vector<double> factors_;  // by column: what 1 of its unit is in ours
  bool expects_units_ = false;   // the last line was a header
  std::vector<std::string> fields_;
  TableRow row_;
  std::set<std::string_view> cut_columns_;  // columns with a value that may be cut
  Nanoseconds end_{0};
};

}  // namespace

bool recognises_table(const TableMapping& mapping, std::string_view head) {
  for (const NumberedLine& line : Lines(head)) {
    if (mapping.form == TableMapping::Form::dictionary) {
      const auto has = [&](std::string_view key) {
        return line.text.find(fmt::format("'{}'", key)) != line.text.npos;
      };
      if (line.text.starts_with('{') &&
          std::all_of(mapping.all_of.begin(), mapping.all_of.end(), has))
        return true;
    } else if (may_be_header(mapping, line.text) && read_layout(mapping, line.text)) {
      return true;
    }
  }
  return false;
}

Result<ReadReport> read_table(const TableMapping& mapping, TextSource& source, ActivitySink& sink) {
  return TableReading(mapping, source, sink).read();
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto integer = parse_number<std::int64_t>(text)) return integer;
  const auto real = parse_number<double>(text);
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!real || !(std::abs(*real) <= kExact) || std::trunc(*real) != *real) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

void set_quantity(TableRow& row, const TableCell& cell, Attribute attribute) {
  const auto number = read_quantity(cell);
  if (number && *number >= 0) {
    row.activity.attributes.set(attribute, *number);
  } else {
    ++row.unreadable;
  }
}

void add_quantity(TableRow& row, const TableCell& cell, Attribute attribute) {
  const std::int64_t known = row.activity.attributes.integer(attribute).value_or(0);
  const auto number = read_quantity(cell);
  std::int64_t sum = 0;
  if (!number || *number < 0 || __builtin_add_overflow(known, *number, &sum)) {
    ++row.unreadable;
  } else {
    row.activity.attributes.set(attribute, sum);
  }
}

void set_name(TableRow& row, const TableCell& cell) { row.activity.name = cell.text; }

void set_demangled_name(TableRow& row, const TableCell& cell) {
  std::string_view text = cell.text;
  const std::size_t open = text.rfind(" [");
  if (open != text.npos && text.ends_with(']')) {  // "f(int*) [128]": the correlation
    const auto number = parse_number<std::uint64_t>(text.substr(open + 2, text.size() - open - 3));
    if (number) {
      row.activity.correlation = number;
      text = text.substr(0, open);
    }
  }
  row.activity.name = text;
  if (text.starts_with('[')) return;  // "[CUDA memcpy HtoD]"
  KernelName name = demangled_kernel_name(with_anonymous_namespaces(text));
  if (name.short_name == text) return;
  row.activity.name = std::move(name.short_name);
  row.activity.attributes.set(Attribute::long_name, name.long_name);
}

void set_start(TableRow& row, const TableCell& cell) {
  const auto time = read_table_time(cell);
  row.bad_time = row.bad_time || !time;
  if (time) row.activity.start = *time;
}

void set_duration(TableRow& row, const TableCell& cell) {
  const auto time = read_table_time(cell);
  row.bad_time = row.bad_time || !time;
  if (time) row.activity.duration = *time;
}

void set_thread(TableRow& row, const TableCell& cell) {
  if (const auto number = whole_number(cell.text)) {
    row.activity.track.tid = *number;
  } else {
    ++row.unreadable;
  }
}

void set_device(TableRow& row, const TableCell& cell) {
  const auto number = whole_number(cell.text);
  if (number && is_device_number(*number)) {
    row.activity.track.device = number;
  } else {
    ++row.unreadable;
  }
}

void set_device_name(TableRow& row, const TableCell& cell) {
  const auto [name, number] = split_unit(cell.text);
  const auto device = parse_number<std::int64_t>(number);
  if (device && is_device_number(*device)) row.activity.track.device = device;
  if (device && !is_device_number(*device)) ++row.unreadable;
  row.facts.emplace("gpu.name", name);
}

void set_stream(TableRow& row, const TableCell& cell) {
  row.activity.track.stream = whole_number(cell.text);
  row.unreadable += row.activity.track.stream ? 0 : 1;
}

void set_correlation(TableRow& row, const TableCell& cell) {
  row.activity.correlation = parse_number<std::uint64_t>(cell.text);
  row.unreadable += row.activity.correlation ? 0 : 1;
}

void ignore_cell(TableRow&, const TableCell&) {}

}  // namespace bench
