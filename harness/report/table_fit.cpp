// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table_fit.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace bench {
namespace {

constexpr std::string_view kEllipsis = "...";

// An id that is cut shows at least this much of both its ends.
constexpr std::size_t kMinEnd = 6;

// The byte at which column number `column` begins.
std::size_t byte_of_column(std::string_view utf8, std::size_t column) {
  std::size_t byte = 0;
  const auto continues = [&] {
    return byte < utf8.size() && (static_cast<unsigned char>(utf8[byte]) & 0xC0u) == 0x80u;
  };
  for (; column > 0 && byte < utf8.size(); --column) {
    ++byte;
    while (continues()) ++byte;
  }
  return byte;
}

// `width` columns, of which `head` stand before the "...".
std::string cut(std::string_view text, std::size_t width, std::size_t head) {
  const std::size_t columns = display_width(text);
  if (columns <= width) return std::string(text);
  const std::size_t tail = width - kEllipsis.size() - head;
  std::string result(text.substr(0, byte_of_column(text, head)));
  result += kEllipsis;
  result += text.substr(byte_of_column(text, columns - tail));
  return result;
}

// Places of a cut, the middle first.
std::vector<std::size_t> heads(std::size_t width) {
  const std::size_t kept = width - std::min(width, kEllipsis.size());
  const std::size_t middle = kept - kept / 2;
  std::vector<std::size_t> result = {middle};
  for (std::size_t step = 1; middle >= step + kMinEnd; ++step) {
    if (middle + step + kMinEnd <= kept) result.push_back(middle + step);
    result.push_back(middle - step);
  }
  return result;
}

// Form number `level` of a cell: 0 is the whole text, the last one stands for all beyond it.
const std::string& form_of(const Cell& cell, std::size_t level) {
  if (level == 0 || cell.shorter.empty()) return cell.text;
  return cell.shorter[std::min(level, cell.shorter.size()) - 1];
}

// Rows with another text than theirs, by what is shown of them.
std::vector<bool> lookalikes(const std::vector<Row>& rows, std::size_t index,
                             const std::vector<std::string>& texts) {
  std::map<std::string_view, std::set<std::string_view>> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) cells[texts[i]].insert(rows[i].cells[index].text);
  std::vector<bool> result;
  for (const std::string& text : texts) result.push_back(cells[text].size() > 1);
  return result;
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

std::size_t levels_of(const std::vector<Row>& rows, std::size_t index) {
  std::size_t levels = 0;
  for (const Row& row : rows) levels = std::max(levels, row.cells[index].shorter.size());
  return levels;
}

std::vector<std::string> forms_at(const std::vector<Row>& rows, std::size_t index,
                                  std::size_t level) {
  std::vector<std::string> texts;
  for (const Row& row : rows) texts.push_back(form_of(row.cells[index], level));
  return texts;
}

bool fits(const std::vector<std::string>& texts, std::size_t width) {
  return std::ranges::all_of(texts,
                             [&](const std::string& text) { return display_width(text) <= width; });
}

std::vector<std::string> cut_all(std::vector<std::string> texts, std::size_t width,
                                 std::size_t head) {
  for (std::string& text : texts) text = cut(text, width, head);
  return texts;
}

// A cut beside the "..." of a short form reads as more than one is left out.
bool meets_ellipsis(const std::vector<std::string>& texts) {
  return std::ranges::any_of(
      texts, [](const std::string& text) { return text.find("....") != std::string::npos; });
}

FittedColumn fit_cut(const std::vector<Row>& rows, std::size_t index, std::size_t width) {
  const std::size_t levels = levels_of(rows, index);
  for (std::size_t level = 0; level <= levels; ++level) {
    FittedColumn fitted{forms_at(rows, index, level), {}};
    if (!fits(fitted.texts, width)) continue;
    fitted.is_lossy = lookalikes(rows, index, fitted.texts);
    if (fitted.is_lossless()) return fitted;
  }
  std::optional<FittedColumn> usual;
  for (std::size_t level = levels + 1; level-- > 0;) {
    const std::vector<std::string> forms = forms_at(rows, index, level);
    std::optional<FittedColumn> lossless;
    for (const std::size_t head : heads(width)) {
      FittedColumn fitted{cut_all(forms, width, head), {}};
      fitted.is_lossy = lookalikes(rows, index, fitted.texts);
      if (fitted.is_lossless() && !meets_ellipsis(fitted.texts)) return fitted;
      if (fitted.is_lossless() && !lossless) lossless = fitted;
      if (!usual) usual = std::move(fitted);
    }
    if (lossless) return *std::move(lossless);
  }
  return *std::move(usual);
}

FittedColumn fit_forms(const std::vector<Row>& rows, std::size_t index, std::size_t width) {
  FittedColumn fitted;
  for (const Row& row : rows) {
    const Cell& cell = row.cells[index];
    std::size_t level = 0;
    while (level < cell.shorter.size() && display_width(form_of(cell, level)) > width) ++level;
    fitted.texts.push_back(form_of(cell, level));
    fitted.is_lossy.push_back(level > 0);
  }
  return fitted;
}

}  // namespace

bool FittedColumn::is_lossless() const { return !any(is_lossy); }

FittedColumn fit_column(const Column& column, const std::vector<Row>& rows, std::size_t index,
                        std::size_t width) {
  return column.narrowest ? fit_cut(rows, index, width) : fit_forms(rows, index, width);
}

std::size_t narrowest_width(const Column& column, const std::vector<Row>& rows, std::size_t index) {
  if (column.narrowest) return std::max(*column.narrowest, kEllipsis.size());
  std::size_t width = display_width(column.heading);
  for (const Row& row : rows) {
    const Cell& cell = row.cells[index];
    width = std::max(width, display_width(form_of(cell, cell.shorter.size())));
  }
  return width;
}

std::vector<std::string> split_columns(std::string_view utf8, std::size_t width) {
  std::vector<std::string> pieces;
  while (!utf8.empty()) {
    const std::size_t end = byte_of_column(utf8, std::max<std::size_t>(width, 1));
    pieces.emplace_back(utf8.substr(0, end));
    utf8.remove_prefix(end);
  }
  return pieces;
}

}  // namespace bench
