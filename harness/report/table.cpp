// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace bench {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNoteIndent = 4;

constexpr std::array<std::string_view, 5> kTones = {"", "\x1b[32m", "\x1b[33m", "\x1b[31m",
                                                    "\x1b[1m"};
constexpr std::string_view kReset = "\x1b[0m";

struct Layout {
  std::vector<std::size_t> shown;   // indices of columns
  std::vector<std::size_t> widths;  // of the shown ones
  std::size_t total() const {
    std::size_t sum = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (std::size_t width : widths) sum += width;
    return sum;
  }
};

std::size_t natural_width(const Column& column, const std::vector<Row>& rows, std::size_t index) {
  std::size_t width = display_width(column.heading);
  for (const Row& row : rows) width = std::max(width, display_width(row.cells[index].text));
  return width;
}

// Takes columns off a layout's widest shortenable column until it fits or nothing gives way.
void squeeze(Layout& layout, const std::vector<Column>& columns, std::size_t width) {
  while (layout.total() > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      const auto narrowest = columns[layout.shown[i]].narrowest;
      const bool gives = narrowest && layout.widths[i] > *narrowest;
      if (gives && (widest == nullptr || layout.widths[i] > *widest)) widest = &layout.widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

Layout arrange(const std::vector<Column>& columns, const std::vector<std::size_t>& natural,
               std::size_t width) {
  int kept = 0;
  for (const Column& column : columns) kept = std::max(kept, column.expendable);
  for (;; --kept) {
    Layout layout;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].expendable > kept) continue;
      layout.shown.push_back(i);
      layout.widths.push_back(natural[i]);
    }
    squeeze(layout, columns, width);
    if (kept == 0 || layout.total() <= width) return layout;
  }
}

// The longest form that fits, else the shortest one cut in the middle.
std::string fit(const Cell& cell, std::size_t width) {
  const std::string* form = &cell.text;
  for (const std::string& shorter : cell.shorter) {
    if (display_width(*form) <= width) break;
    form = &shorter;
  }
  return shorten(*form, width);
}

std::string pad(const Cell& cell, std::size_t width, Align align, Colour colour) {
  const std::string shown = fit(cell, width);
  const std::string blanks(width - display_width(shown), ' ');
  const std::string painted = paint(shown, cell.tone, colour);
  return align == Align::left ? painted + blanks : blanks + painted;
}

std::string render_row(const std::vector<Column>& columns, const Layout& layout,
                       const std::vector<Cell>& cells, Colour colour) {
  std::string line;
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::size_t index = layout.shown[i];
    const Cell& cell = cells[index];
    if (i > 0) line.append(kGap, ' ');
    line += pad(cell, layout.widths[i], columns[index].align, colour);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

}  // namespace

std::string paint(std::string_view text, Tone tone, Colour colour) {
  const std::string_view start = kTones[static_cast<std::size_t>(tone)];
  if (colour == Colour::off || start.empty() || text.empty()) return std::string(text);
  return std::string(start) + std::string(text) + std::string(kReset);
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  const std::string clean = printable(text);
  const std::string margin(indent, ' ');
  const std::size_t room = width > indent + 1 ? width - indent : 1;
  std::string result;
  std::string line;
  for (std::size_t begin = 0; begin < clean.size();) {
    std::size_t end = clean.find(' ', begin);
    if (end == std::string::npos) end = clean.size();
    std::string word = shorten(std::string_view(clean).substr(begin, end - begin), room);
    begin = end + 1;
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) {
      result += margin + line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) result += margin + line + '\n';
  return result;
}

std::string render_table(const std::vector<Column>& columns, const std::vector<Row>& rows,
                         std::size_t width, Colour colour) {
  std::vector<Row> clean = rows;
  for (Row& row : clean) {
    for (Cell& cell : row.cells) {
      cell.text = printable(cell.text);
      for (std::string& form : cell.shorter) form = printable(form);
    }
  }
  std::vector<std::size_t> natural;
  for (std::size_t i = 0; i < columns.size(); ++i)
    natural.push_back(natural_width(columns[i], clean, i));
  const Layout layout = arrange(columns, natural, width);
  std::vector<Cell> headings;
  for (const Column& column : columns) headings.push_back({column.heading, Tone::heading});
  std::string text = render_row(columns, layout, headings, colour);
  for (const Row& row : clean) {
    text += render_row(columns, layout, row.cells, colour);
    if (!row.note.empty()) text += wrap(row.note, width, kNoteIndent);
  }
  return text;
}

}  // namespace bench
