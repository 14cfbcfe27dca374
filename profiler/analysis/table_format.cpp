// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/table_format.hpp"

#include "base/json_writer.hpp"
#include "base/markup.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>

namespace bench::analysis {
namespace {

constexpr std::size_t kMinText = 10;  // "conv...uts"; a shorter text is not informative
constexpr std::size_t kMinKey = 24;   // "resnet50_v...er1.0.conv2"

std::string format_cell(const Cell& cell, const Column& column) {
  return is_known(cell) ? readable(cell, column.quantity) : std::string(column.absent);
}

// Rows of any number, which are not kept: the columns have their widths before the first row.
class TableText final : public TableWriter {
 public:
  TableText(const TableShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void begin() override {
    for (const std::string& note : shape_.notes) out_ << note << '\n';
    if (shape_.columns.empty()) return;
    std::vector<FittedCell> headings;
    for (const TableColumn& column : shape_.columns)
      headings.push_back(fit(column, column.heading));
    out_ << '\n' << render_line(headings, Colour::off);
  }

  void row(const std::vector<Cell>& cells) override {
    std::vector<FittedCell> fitted;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const TableColumn& column = shape_.columns[i];
      fitted.push_back(fit(column, format_cell(cells[i], *column.column)));
    }
    out_ << render_line(fitted, Colour::off);
  }

  void end(const std::vector<std::string>& notes) override {
    for (const std::string& note : notes) out_ << note << '\n';
  }

 private:
  // Cutting a number or `n/a` would change its meaning, so such a cell makes its line longer
  // instead.
  static FittedCell fit(const TableColumn& column, const std::string& text) {
    const bool is_whole = column.column->numeric || text == column.column->absent;
    return {.text = is_whole ? text : shorten(text, std::max(column.width, std::size_t{1})),
            .width = column.width,
            .align = column.column->numeric ? Align::right : Align::left};
  }

  const TableShape& shape_;
  std::ostream& out_;
};

// Raw values separated by single spaces, for awk. Spaces within a value become underscores.
class SpaceText final : public TableWriter {
 public:
  SpaceText(const TableShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void begin() override {
    for (std::size_t i = 0; i < shape_.columns.size(); ++i) {
      out_ << (i == 0 ? "" : " ") << shape_.columns[i].column->name;
    }
    out_ << '\n';
  }
  void row(const std::vector<Cell>& cells) override {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string text = is_known(cells[i]) ? printable(raw(cells[i])) : std::string(kUnknown);
      std::replace(text.begin(), text.end(), ' ', '_');
      out_ << (i == 0 ? "" : " ") << text;
    }
    out_ << '\n';
  }
  void end(const std::vector<std::string>&) override {}

 private:
  const TableShape& shape_;
  std::ostream& out_;
};

// RFC 4180 with line feeds. Every text is quoted; unknown is empty. Control characters are escaped.
// Text that a spreadsheet would evaluate gets a leading apostrophe.
class CsvText final : public TableWriter {
 public:
  CsvText(const TableShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void begin() override {
    for (std::size_t i = 0; i < shape_.columns.size(); ++i) {
      out_ << (i == 0 ? "" : ",") << shape_.columns[i].column->name;
    }
    out_ << '\n';
  }
  void row(const std::vector<Cell>& cells) override {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      append_csv(cells[i], line);
    }
    out_ << line << '\n';
  }
  void end(const std::vector<std::string>&) override {}

 private:
  const TableShape& shape_;
  std::ostream& out_;
};

// {"answer": "...", "audit": {...}, "rows": [...], "selected": n, "total_ns": n}; unknown values
// are omitted.
class JsonText final : public TableWriter {
 public:
  JsonText(const TableShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void begin() override {
    out_ << '{';
    if (!shape_.answer.empty()) {
      std::string object =
          json_object([&](JsonWriter& writer) { writer.required("answer", shape_.answer); });
      object.back() = ',';  // replaces the closing brace
      put(std::string_view(object).substr(1));
    }
    if (!shape_.audit.empty()) put(fmt::format("\"audit\":{},", shape_.audit));
    out_ << "\"rows\":[";
  }
  void row(const std::vector<Cell>& cells) override {
    out_ << (first_ ? "\n" : ",\n");
    first_ = false;
    text_.clear();
    JsonWriter writer(text_, kRowStyle);
    writer.add_object([&](JsonWriter& object) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        std::visit([&](const auto& cell) { add(object, shape_.columns[i].column->name, cell); },
                   cells[i]);
      }
    });
    put(text_);
  }
  void end(const std::vector<std::string>&) override {
    out_ << fmt::format("\n],\"selected\":{},\"total_ns\":{}}}\n", shape_.selected,
                        shape_.total.count());
  }

 private:
  static constexpr JsonStyle kRowStyle = {.indent = 0, .reals = JsonReals::with_fraction};

  static void add(JsonWriter& /*row*/, std::string_view /*name*/, std::monostate /*unknown*/) {}
  static void add(JsonWriter& row, std::string_view name, const auto& cell) {
    row.required(name, cell);
  }

  // JSON allows DEL and U+0080 to U+009F in strings, but terminals treat them as control
  // characters.
  void put(std::string_view json) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < json.size(); ++i) {
      const auto c = static_cast<unsigned char>(json[i]);
      const auto after = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
      const bool two_bytes = c == 0xC2 && after < 0xA0;
      if (c != 0x7f && !two_bytes) continue;
      out_ << json.substr(begin, i - begin) << fmt::format("\\u{:04x}", two_bytes ? after : c);
      i += two_bytes ? 1 : 0;
      begin = i + 1;
    }
    out_ << json.substr(begin);
  }

  const TableShape& shape_;
  std::ostream& out_;
  std::string text_;  // the row that is being written
  bool first_ = true;
};

class MarkdownText final : public TableWriter {
 public:
  MarkdownText(const TableShape& shape, std::ostream& out) : shape_(shape), out_(out) {}

  void begin() override {
    for (const std::string& note : shape_.notes) out_ << markdown_sentence(note) << "  \n";
    if (shape_.columns.empty()) return;
    out_ << "\n|";
    for (const TableColumn& column : shape_.columns)
      out_ << ' ' << escape_markdown(column.heading) << " |";
    out_ << "\n|";
    for (const TableColumn& column : shape_.columns)
      out_ << (column.column->numeric ? " ---: |" : " --- |");
    out_ << '\n';
  }
  void row(const std::vector<Cell>& cells) override {
    out_ << '|';
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out_ << ' ' << escape_markdown(format_cell(cells[i], *shape_.columns[i].column)) << " |";
    }
    out_ << '\n';
  }
  void end(const std::vector<std::string>& notes) override {
    for (const std::string& note : notes) out_ << '\n' << markdown_sentence(note) << '\n';
  }

 private:
  const TableShape& shape_;
  std::ostream& out_;
};

template <class Writer>
std::unique_ptr<TableWriter> make(const TableShape& shape, std::ostream& out) {
  return std::make_unique<Writer>(shape, out);
}

using enum TableFormat::Audience;
constexpr std::array<TableFormat, 5> kFormats = {{
    {"table", "human-readable columns", people, make<TableText>},
    {"space", "raw values between blanks, for awk", programs, make<SpaceText>,
     TableFormat::Answer::beside},
    {"csv", "raw values, RFC 4180", programs, make<CsvText>, TableFormat::Answer::beside},
    {"json", "one object with the array rows, raw values", programs, make<JsonText>},
    {"markdown", "a table with bars of time", people, make<MarkdownText>},
}};

std::size_t total_width(const std::vector<TableColumn>& columns) {
  std::size_t sum = columns.empty() ? 0 : kColumnGap * (columns.size() - 1);
  for (const TableColumn& column : columns) sum += column.width;
  return sum;
}

}  // namespace

std::span<const TableFormat> table_formats() { return kFormats; }

Result<const TableFormat*> find_table_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TableFormat& format : kFormats) {
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return Error{fmt::format("unknown format {}", quote(name)), "--format", expectation(name, names)};
}

std::size_t narrowest_width(const std::vector<TableColumn>& columns,
                            std::span<const Column* const> keys) {
  std::vector<TableColumn> narrow = columns;
  for (TableColumn& column : narrow) {
    if (column.column->numeric) continue;
    const bool is_grouped = std::ranges::find(keys, column.column) != keys.end();
    column.width = std::min(column.width, is_grouped ? kMinKey : kMinText);
  }
  return total_width(narrow);
}

Status fit_width(std::vector<TableColumn>& columns, std::size_t width) {
  while (total_width(columns) > width) {
    // Removes one character from the widest text. Tables are a few hundred characters wide.
    TableColumn* widest = nullptr;
    for (TableColumn& column : columns) {
      if (column.column->numeric || column.width <= kMinText) continue;
      if (widest == nullptr || column.width > widest->width) widest = &column;
    }
    if (widest == nullptr) {
      return Error{fmt::format("the table needs a width of {}", total_width(columns)), "--width",
                   "choose fewer columns with -c"};
    }
    const std::size_t excess = total_width(columns) - width;
    // Takes long steps while one column is far wider than the others.
    const std::size_t step = std::max<std::size_t>(1, std::min(excess, widest->width / 8));
    widest->width = std::max(kMinText, widest->width - step);
  }
  return Done{};
}

}  // namespace bench::analysis
