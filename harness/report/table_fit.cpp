// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table_fit.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace bench {
namespace {

constexpr std::size_t kEllipsisWidth = 3;

// A cut id shows at least this many characters at both ends.
constexpr std::size_t kMinEnd = 6;

// Returns the candidate positions of a cut, the middle first.
std::vector<std::size_t> heads(std::size_t width) {
  const std::size_t kept = width - std::min(width, kEllipsisWidth);
  const std::size_t middle = kept - kept / 2;
  std::vector<std::size_t> result = {middle};
  for (std::size_t step = 1; middle >= step + kMinEnd; ++step) {
    if (middle + step + kMinEnd <= kept) result.push_back(middle + step);
    result.push_back(middle - step);
  }
  return result;
}

// Returns form number `level` of a cell: 0 is the complete text; higher numbers than available give
// the last form.
const std::string& form_of(const Cell& cell, std::size_t level) {
  if (level == 0 || cell.shorter.empty()) return cell.text;
  return cell.shorter[std::min(level, cell.shorter.size()) - 1];
}

// Returns the width of the widest text of each level in column number `index`.
std::vector<std::size_t> widest_texts(const std::vector<Row>& rows, std::size_t index) {
  std::size_t levels = 1;
  for (const Row& row : rows) levels = std::max(levels, row.cells[index].shorter.size() + 1);
  std::vector<std::size_t> widest(levels, 0);
  for (const Row& row : rows) {
    for (std::size_t level = 0; level < levels; ++level) {
      widest[level] = std::max(widest[level], display_width(form_of(row.cells[index], level)));
    }
  }
  return widest;
}

}  // namespace

bool FittedColumn::is_lossless() const {
  return std::ranges::find(is_lossy, true) == is_lossy.end();
}

ColumnFitter::ColumnFitter(const Column& column, const std::vector<Row>& rows, std::size_t index)
    : column_(column), rows_(rows), index_(index), widest_(widest_texts(rows, index)) {}

std::size_t ColumnFitter::natural_width() const {
  return std::max(display_width(column_.heading), widest_.front());
}

std::size_t ColumnFitter::narrowest_width() const {
  if (column_.narrowest) return std::max(*column_.narrowest, kEllipsisWidth);
  return std::max(display_width(column_.heading), widest_.back());
}

std::string ColumnFitter::shown(std::size_t row, const Form& form, std::size_t width) const {
  const std::string& text = form_of(cell(row), form.level);
  return form.head ? shorten(text, width, *form.head) : text;
}

bool ColumnFitter::looks_alike(std::size_t a, std::size_t b, const Form& form,
                               std::size_t width) const {
  return cell(a).text != cell(b).text && shown(a, form, width) == shown(b, form, width);
}

// Most forms fail, and a table may have tens of thousands of rows. So a form is rejected at the
// first two rows that show the same text.
bool ColumnFitter::keeps_rows_apart(const Form& form, std::size_t width) {
  const bool is_known_to_fail = std::ranges::any_of(lookalikes_, [&](const auto& rows) {
    return looks_alike(rows.first, rows.second, form, width);
  });
  if (is_known_to_fail) return false;
  std::unordered_map<std::string, std::size_t> first_rows;  // first row with each text
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto [first, is_new] = first_rows.emplace(shown(row, form, width), row);
    if (is_new || cell(first->second).text == cell(row).text) continue;
    lookalikes_.emplace_back(first->second, row);
    return false;
  }
  return true;
}

// A cut next to the "..." of a short form would look like more than one omission.
bool ColumnFitter::meets_ellipsis(const Form& form, std::size_t width) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (shown(row, form, width).find("....") != std::string::npos) return true;
  }
  return false;
}

// Returns the longest form that fits all rows and keeps them distinguishable.
std::optional<ColumnFitter::Form> ColumnFitter::whole_form(std::size_t width) {
  for (std::size_t level = 0; level < widest_.size(); ++level) {
    if (widest_[level] > width) continue;
    Form form{level, std::nullopt, true};
    if (level == 0 || keeps_rows_apart(form, width)) return form;
  }
  return std::nullopt;
}

// Returns the shortest form that stays distinguishable when cut. If there is none, returns the
// shortest form, cut in the middle.
ColumnFitter::Form ColumnFitter::cut_form(std::size_t width) {
  const std::vector<std::size_t> places = heads(width);
  for (std::size_t level = widest_.size(); level-- > 0;) {
    if (widest_[level] <= width) continue;  // a cut does not change what whole_form() rejected
    std::optional<Form> lossless;
    for (const std::size_t head : places) {
      Form form{level, head, true};
      if (!keeps_rows_apart(form, width)) continue;
      if (!meets_ellipsis(form, width)) return form;
      if (!lossless) lossless = form;
    }
    if (lossless) return *lossless;
  }
  return Form{widest_.size() - 1, places.front(), false};
}

const ColumnFitter::Form& ColumnFitter::form_for(std::size_t width) {
  auto found = forms_.find(width);
  if (found == forms_.end()) {
    const std::optional<Form> whole = whole_form(width);
    found = forms_.emplace(width, whole ? *whole : cut_form(width)).first;
  }
  return found->second;
}

FittedColumn ColumnFitter::fit_each_row(std::size_t width) const {
  FittedColumn fitted;
  for (const Row& row : rows_) {
    const Cell& shortened = row.cells[index_];
    std::size_t level = 0;
    const auto is_too_wide = [&] { return display_width(form_of(shortened, level)) > width; };
    while (level < shortened.shorter.size() && is_too_wide()) ++level;
    fitted.texts.push_back(form_of(shortened, level));
    fitted.is_lossy.push_back(level > 0);
  }
  return fitted;
}

bool ColumnFitter::tells_rows_apart(std::size_t width) {
  return !column_.narrowest || form_for(width).is_lossless;
}

FittedColumn ColumnFitter::fit(std::size_t width) {
  if (!column_.narrowest) return fit_each_row(width);
  const Form& form = form_for(width);
  FittedColumn fitted;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    fitted.texts.push_back(shown(row, form, width));
  }
  fitted.is_lossy.assign(rows_.size(), false);
  if (form.is_lossless) return fitted;
  std::unordered_map<std::string_view, std::set<std::string_view>> cells;  // cells by shown text
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    cells[fitted.texts[row]].insert(cell(row).text);
  }
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    fitted.is_lossy[row] = cells[fitted.texts[row]].size() > 1;
  }
  return fitted;
}

std::vector<std::string> split_columns(std::string_view utf8, std::size_t width) {
  std::vector<std::string> pieces;
  while (!utf8.empty()) {
    const std::string_view piece = leading_columns(utf8, std::max<std::size_t>(width, 1));
    pieces.emplace_back(piece);
    utf8.remove_prefix(piece.size());
  }
  return pieces;
}

}  // namespace bench
