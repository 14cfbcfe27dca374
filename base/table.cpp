// SPDX-License-Identifier: Apache-2.0
#include "base/table.hpp"

#include "base/printable.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace bench {

namespace {

constexpr std::size_t kNoteIndent = 4;

struct Layout {
  std::vector<std::size_t> columns;  // indices of the shown columns
  std::vector<std::size_t> widths;   // their widths
  std::size_t total() const {
    std::size_t sum = columns.empty() ? 0 : kColumnGap * (columns.size() - 1);
    for (std::size_t width : widths) sum += width;
    return sum;
  }
};

// How a column becomes narrower: its cells are cut, or shown in shorter forms.
enum class ShrinkMethod { cuts, forms };

// Narrows the widest column that shrinks by `method`, until the layout fits or none can shrink.
void squeeze(Layout& layout, const std::vector<TextColumn>& columns,
             const std::vector<std::size_t>& narrowest, std::size_t width, ShrinkMethod method) {
  while (layout.total() > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const std::size_t index = layout.columns[i];
      const bool uses_method =
          columns[index].narrowest.has_value() == (method == ShrinkMethod::cuts);
      const bool can_shrink = uses_method && layout.widths[i] > narrowest[index];
      if (can_shrink && (widest == nullptr || layout.widths[i] > *widest))
        widest = &layout.widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

// The content of a table during layout; all rows are printable.
struct Content {
  const std::vector<TextColumn>& columns;
  std::vector<ColumnFitter> fitters = {};   // one per column
  std::vector<std::size_t> natural = {};    // widths of complete texts
  std::vector<std::size_t> narrowest = {};  // minimum widths of the columns
};

Content measure_content(const std::vector<TextColumn>& columns, const std::vector<TextRow>& rows) {
  Content content{columns};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    content.fitters.emplace_back(columns[i], rows, i);
    content.natural.push_back(content.fitters.back().natural_width());
    content.narrowest.push_back(content.fitters.back().narrowest_width());
  }
  return content;
}

bool keeps_all_rows_distinct(Content& content, const Layout& layout) {
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::size_t index = layout.columns[i];
    if (layout.widths[i] >= content.natural[index]) continue;
    if (!content.fitters[index].keeps_rows_distinct(layout.widths[i])) return false;
  }
  return true;
}

// Lays out the columns whose `expendable` is at most `max_expendable`, with their natural widths.
Layout lay_out(const Content& content, int max_expendable) {
  Layout layout;
  for (std::size_t i = 0; i < content.columns.size(); ++i) {
    if (content.columns[i].expendable > max_expendable) continue;
    layout.columns.push_back(i);
    layout.widths.push_back(content.natural[i]);
  }
  return layout;
}

// The orders in which to shrink columns, best first. Cuts come first, because the text that a
// shorter form omits needs a line below the row. But such a line is better than a removed column.
using ShrinkOrder = std::array<ShrinkMethod, 2>;
constexpr std::array<ShrinkOrder, 2> kShrinkOrders = {
    {{ShrinkMethod::cuts, ShrinkMethod::forms}, {ShrinkMethod::forms, ShrinkMethod::cuts}}};

void shrink(const Content& content, std::size_t width, const ShrinkOrder& order, Layout& layout) {
  for (const ShrinkMethod method : order) {
    squeeze(layout, content.columns, content.narrowest, width, method);
  }
}

// Removes columns until the others fit and each keeps different cells distinguishable. If this is
// impossible, removes only as many columns as needed to fit.
Layout choose_layout(Content& content, std::size_t width) {
  int max_expendable = 0;
  for (const TextColumn& column : content.columns)
    max_expendable = std::max(max_expendable, column.expendable);
  std::optional<Layout> fitting;
  for (; max_expendable >= 0; --max_expendable) {
    for (const ShrinkOrder& order : kShrinkOrders) {
      Layout layout = lay_out(content, max_expendable);
      shrink(content, width, order, layout);
      if (max_expendable > 0 && layout.total() > width) continue;
      if (keeps_all_rows_distinct(content, layout)) return layout;
      if (!fitting) fitting = std::move(layout);
    }
  }
  return *std::move(fitting);
}

// Renders one line; `cells` has one cell per shown column.
std::string render_row(const std::vector<TextColumn>& columns, const Layout& layout,
                       const std::vector<TextCell>& cells, Colour colour) {
  std::vector<FittedCell> fitted;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    fitted.push_back(
        {cells[i].text, layout.widths[i], columns[layout.columns[i]].align, cells[i].tone});
  }
  return render_line(fitted, colour);
}

std::string render_headings(const std::vector<TextColumn>& columns, const Layout& layout,
                            Colour colour) {
  std::vector<TextCell> headings;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::string& heading = columns[layout.columns[i]].heading;
    headings.push_back({shorten(heading, layout.widths[i]), Tone::heading});
  }
  return render_row(columns, layout, headings, colour);
}

// Renders a cell that does not fit its column: complete, on lines that follow its row.
std::string render_spilled(const TextColumn& column, const TextCell& cell, std::size_t width) {
  const std::size_t room = width > kNoteIndent + 1 ? width - kNoteIndent : 1;
  std::string text;
  for (const std::string& piece :
       split_columns(fmt::format("{}: {}", column.heading, cell.text), room)) {
    text += std::string(kNoteIndent, ' ') + piece + '\n';
  }
  return text;
}

// Returns the width that a column needs, which may be less than the available width.
std::size_t shown_width(const TextColumn& column, const FittedColumn& fitted,
                        std::size_t available) {
  std::size_t width = std::min(display_width(column.heading), available);
  for (const std::string& text : fitted.texts) width = std::max(width, display_width(text));
  return width;
}

std::vector<TextRow> printable_rows(std::vector<TextRow> rows) {
  for (TextRow& row : rows) {
    for (TextCell& cell : row.cells) {
      cell.text = printable(cell.text);
      for (std::string& form : cell.shorter) form = printable(form);
    }
  }
  return rows;
}

}  // namespace

std::string render_line(const std::vector<FittedCell>& cells, Colour colour) {
  std::string line;
  for (const FittedCell& cell : cells) {
    if (&cell != &cells.front()) line.append(kColumnGap, ' ');
    const std::size_t used = display_width(cell.text);
    const std::string blanks(used < cell.width ? cell.width - used : 0, ' ');
    const std::string painted = paint(cell.text, cell.tone, colour);
    line += cell.align == Align::left ? painted + blanks : blanks + painted;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string render_table(const std::vector<TextColumn>& columns, std::vector<TextRow> rows,
                         std::size_t width, Colour colour) {
  const std::vector<TextRow> clean = printable_rows(std::move(rows));
  Content content = measure_content(columns, clean);
  Layout layout = choose_layout(content, width);
  std::vector<FittedColumn> fitted;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const std::size_t index = layout.columns[i];
    fitted.push_back(content.fitters[index].fit(layout.widths[i]));
    layout.widths[i] = shown_width(columns[index], fitted.back(), layout.widths[i]);
  }
  std::string text = render_headings(columns, layout, colour);
  for (std::size_t number = 0; number < clean.size(); ++number) {
    const TextRow& row = clean[number];
    std::vector<TextCell> cells;
    std::string spilled;
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      const std::size_t index = layout.columns[i];
      const TextCell& cell = row.cells[index];
      cells.push_back({fitted[i].texts[number], cell.tone});
      if (fitted[i].is_lossy[number]) spilled += render_spilled(columns[index], cell, width);
    }
    text += render_row(columns, layout, cells, colour) + spilled;
    if (!row.note.empty()) text += wrap(row.note, width, kNoteIndent);
  }
  return text;
}

namespace {

constexpr std::size_t kEllipsisWidth = 3;

// A cut id shows at least this many characters at both ends.
constexpr std::size_t kMinEnd = 6;

// Returns the candidate positions of a cut, the middle first: each is the number of columns before
// the ellipsis.
std::vector<std::size_t> list_cut_positions(std::size_t width) {
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
const std::string& select_form(const TextCell& cell, std::size_t level) {
  if (level == 0 || cell.shorter.empty()) return cell.text;
  return cell.shorter[std::min(level, cell.shorter.size()) - 1];
}

// Returns the width of the widest text of each level in column number `index`.
std::vector<std::size_t> widest_texts(const std::vector<TextRow>& rows, std::size_t index) {
  std::size_t levels = 1;
  for (const TextRow& row : rows) levels = std::max(levels, row.cells[index].shorter.size() + 1);
  std::vector<std::size_t> widest(levels, 0);
  for (const TextRow& row : rows) {
    for (std::size_t level = 0; level < levels; ++level) {
      widest[level] = std::max(widest[level], display_width(select_form(row.cells[index], level)));
    }
  }
  return widest;
}

}  // namespace

bool FittedColumn::is_lossless() const {
  return std::ranges::find(is_lossy, true) == is_lossy.end();
}

ColumnFitter::ColumnFitter(const TextColumn& column, const std::vector<TextRow>& rows,
                           std::size_t index)
    : column_(column), rows_(rows), index_(index), widest_(widest_texts(rows, index)) {}

std::size_t ColumnFitter::natural_width() const {
  return std::max(display_width(column_.heading), widest_.front());
}

std::size_t ColumnFitter::narrowest_width() const {
  if (column_.narrowest) return std::max(*column_.narrowest, kEllipsisWidth);
  return std::max(display_width(column_.heading), widest_.back());
}

std::string ColumnFitter::render_cell(std::size_t row, const Form& form, std::size_t width) const {
  const std::string& text = select_form(cell(row), form.level);
  return form.head ? shorten(text, width, *form.head) : text;
}

bool ColumnFitter::look_equal(std::size_t a, std::size_t b, const Form& form,
                              std::size_t width) const {
  return cell(a).text != cell(b).text && render_cell(a, form, width) == render_cell(b, form, width);
}

// Returns whether all rows with different cells show different texts. Most forms fail, and a table
// may have tens of thousands of rows. So this function stops at the first two rows that fail.
bool ColumnFitter::keeps_rows_distinct(const Form& form, std::size_t width) {
  const bool is_known_to_fail = std::ranges::any_of(lookalikes_, [&](const auto& rows) {
    return look_equal(rows.first, rows.second, form, width);
  });
  if (is_known_to_fail) return false;
  std::unordered_map<std::string, std::size_t> first_rows;  // first row with each text
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto [first, is_new] = first_rows.emplace(render_cell(row, form, width), row);
    if (is_new || cell(first->second).text == cell(row).text) continue;
    lookalikes_.emplace_back(first->second, row);
    return false;
  }
  return true;
}

// Returns whether a cut is next to the "..." of a short form, which would be confusing.
bool ColumnFitter::repeats_ellipsis(const Form& form, std::size_t width) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (render_cell(row, form, width).find("....") != std::string::npos) return true;
  }
  return false;
}

// Returns the longest form that fits without a cut and keeps all rows distinguishable.
std::optional<ColumnFitter::Form> ColumnFitter::find_uncut_form(std::size_t width) {
  for (std::size_t level = 0; level < widest_.size(); ++level) {
    if (widest_[level] > width) continue;
    Form form{level, std::nullopt, true};
    if (level == 0 || keeps_rows_distinct(form, width)) return form;
  }
  return std::nullopt;
}

// Returns the shortest form that stays distinguishable when cut. If there is none, returns the
// shortest form, cut in the middle.
ColumnFitter::Form ColumnFitter::choose_cut_form(std::size_t width) {
  const std::vector<std::size_t> heads = list_cut_positions(width);
  for (std::size_t level = widest_.size(); level-- > 0;) {
    if (widest_[level] <= width) continue;  // find_uncut_form() has rejected it
    std::optional<Form> lossless;
    for (const std::size_t head : heads) {
      Form form{level, head, true};
      if (!keeps_rows_distinct(form, width)) continue;
      if (!repeats_ellipsis(form, width)) return form;
      if (!lossless) lossless = form;
    }
    if (lossless) return *lossless;
  }
  return Form{widest_.size() - 1, heads.front(), false};
}

const ColumnFitter::Form& ColumnFitter::form_for(std::size_t width) {
  auto entry = forms_.find(width);
  if (entry == forms_.end()) {
    const std::optional<Form> uncut = find_uncut_form(width);
    entry = forms_.emplace(width, uncut ? *uncut : choose_cut_form(width)).first;
  }
  return entry->second;
}

FittedColumn ColumnFitter::fit_each_row(std::size_t width) const {
  FittedColumn fitted;
  for (const TextRow& row : rows_) {
    const TextCell& shortened = row.cells[index_];
    std::size_t level = 0;
    const auto is_too_wide = [&] { return display_width(select_form(shortened, level)) > width; };
    while (level < shortened.shorter.size() && is_too_wide()) ++level;
    fitted.texts.push_back(select_form(shortened, level));
    fitted.is_lossy.push_back(level > 0);
  }
  return fitted;
}

bool ColumnFitter::keeps_rows_distinct(std::size_t width) {
  return !column_.narrowest || form_for(width).is_lossless;
}

FittedColumn ColumnFitter::fit(std::size_t width) {
  if (!column_.narrowest) return fit_each_row(width);
  const Form& form = form_for(width);
  FittedColumn fitted;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    fitted.texts.push_back(render_cell(row, form, width));
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

}  // namespace bench
