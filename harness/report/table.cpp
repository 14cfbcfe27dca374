// SPDX-License-Identifier: Apache-2.0
#include "harness/report/table.hpp"

#include "base/lines.hpp"
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

constexpr std::size_t kGap = 2;
constexpr std::size_t kNoteIndent = 4;

constexpr std::array<std::string_view, 5> kTones = {"", "\x1b[32m", "\x1b[33m", "\x1b[31m",
                                                    "\x1b[1m"};
constexpr std::string_view kReset = "\x1b[0m";

struct Layout {
  std::vector<std::size_t> shown;   // indices of columns
  std::vector<std::size_t> widths;  // widths of the shown columns
  std::size_t total() const {
    std::size_t sum = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (std::size_t width : widths) sum += width;
    return sum;
  }
};

enum class GivesWay { by_cuts, by_forms };

// Repeatedly narrows the widest column that may shrink, until the layout fits or none may shrink.
void squeeze(Layout& layout, const std::vector<Column>& columns,
             const std::vector<std::size_t>& narrowest, std::size_t width, GivesWay kind) {
  while (layout.total() > width) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      const std::size_t index = layout.shown[i];
      const bool is_asked = columns[index].narrowest.has_value() == (kind == GivesWay::by_cuts);
      const bool gives = is_asked && layout.widths[i] > narrowest[index];
      if (gives && (widest == nullptr || layout.widths[i] > *widest)) widest = &layout.widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

// The content of a table during layout; all rows are printable.
struct Content {
  const std::vector<Column>& columns;
  std::vector<ColumnFitter> fitters = {};   // one per column
  std::vector<std::size_t> natural = {};    // widths of complete texts
  std::vector<std::size_t> narrowest = {};  // minimum widths of the columns
};

Content measure_content(const std::vector<Column>& columns, const std::vector<Row>& rows) {
  Content content{columns};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    content.fitters.emplace_back(columns[i], rows, i);
    content.natural.push_back(content.fitters.back().natural_width());
    content.narrowest.push_back(content.fitters.back().narrowest_width());
  }
  return content;
}

bool tells_all_rows_apart(Content& content, const Layout& layout) {
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::size_t index = layout.shown[i];
    if (layout.widths[i] >= content.natural[index]) continue;
    if (!content.fitters[index].tells_rows_apart(layout.widths[i])) return false;
  }
  return true;
}

Layout lay_out(const Content& content, int kept) {
  Layout layout;
  for (std::size_t i = 0; i < content.columns.size(); ++i) {
    if (content.columns[i].expendable > kept) continue;
    layout.shown.push_back(i);
    layout.widths.push_back(content.natural[i]);
  }
  return layout;
}

// Ids shrink before cells drop flags, since dropped flags need a line of their own below the row.
// But such a line is better than a removed column.
using Order = std::array<GivesWay, 2>;
constexpr std::array<Order, 2> kOrders = {
    {{GivesWay::by_cuts, GivesWay::by_forms}, {GivesWay::by_forms, GivesWay::by_cuts}}};

void give_way(const Content& content, std::size_t width, const Order& order, Layout& layout) {
  for (const GivesWay kind : order) {
    squeeze(layout, content.columns, content.narrowest, width, kind);
  }
}

// Removes columns until the others fit and no two rows show the same text. If this is impossible,
// removes only as many columns as needed to fit.
Layout arrange(Content& content, std::size_t width) {
  int kept = 0;
  for (const Column& column : content.columns) kept = std::max(kept, column.expendable);
  std::optional<Layout> fitting;
  for (; kept >= 0; --kept) {
    for (const Order& order : kOrders) {
      Layout layout = lay_out(content, kept);
      give_way(content, width, order, layout);
      if (kept > 0 && layout.total() > width) continue;
      if (tells_all_rows_apart(content, layout)) return layout;
      if (!fitting) fitting = std::move(layout);
    }
  }
  return *std::move(fitting);
}

std::string pad(const std::string& shown, std::size_t width, Tone tone, Align align,
                Colour colour) {
  const std::size_t used = display_width(shown);
  const std::string blanks(used < width ? width - used : 0, ' ');
  const std::string painted = paint(shown, tone, colour);
  return align == Align::left ? painted + blanks : blanks + painted;
}

// `cells`: one per shown column.
std::string render_row(const std::vector<Column>& columns, const Layout& layout,
                       const std::vector<Cell>& cells, Colour colour) {
  std::string line;
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    if (i > 0) line.append(kGap, ' ');
    line +=
        pad(cells[i].text, layout.widths[i], cells[i].tone, columns[layout.shown[i]].align, colour);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string render_headings(const std::vector<Column>& columns, const Layout& layout,
                            Colour colour) {
  std::vector<Cell> headings;
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::string& heading = columns[layout.shown[i]].heading;
    headings.push_back({shorten(heading, layout.widths[i]), Tone::heading});
  }
  return render_row(columns, layout, headings, colour);
}

// Renders a cell that does not fit its column: complete, on lines below its row.
std::string spill(const Column& column, const Cell& cell, std::size_t width) {
  const std::size_t room = width > kNoteIndent + 1 ? width - kNoteIndent : 1;
  std::string text;
  for (const std::string& piece :
       split_columns(fmt::format("{}: {}", column.heading, cell.text), room)) {
    text += std::string(kNoteIndent, ' ') + piece + '\n';
  }
  return text;
}

// Returns the width that a column needs: a cell's form may be narrower than the available width.
std::size_t shown_width(const Column& column, const FittedColumn& fitted, std::size_t available) {
  std::size_t width = std::min(display_width(column.heading), available);
  for (const std::string& text : fitted.texts) width = std::max(width, display_width(text));
  return width;
}

std::vector<Row> printable_rows(std::vector<Row> rows) {
  for (Row& row : rows) {
    for (Cell& cell : row.cells) {
      cell.text = printable(cell.text);
      for (std::string& form : cell.shorter) form = printable(form);
    }
  }
  return rows;
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
    const std::string_view word = std::string_view(clean).substr(begin, end - begin);
    begin = end + 1;
    for (const std::string& piece : split_columns(word, room)) {
      if (!line.empty() && display_width(line) + 1 + display_width(piece) > room) {
        result += margin + line + '\n';
        line.clear();
      }
      line += (line.empty() ? "" : " ") + piece;
    }
  }
  if (!line.empty()) result += margin + line + '\n';
  return result;
}

std::string fold_lines(std::string_view text, std::size_t width) {
  constexpr std::string_view kColumnGap = "  ";
  std::string result;
  for (const NumberedLine& next : Lines(text)) {
    const std::string_view line = next.text;
    if (display_width(line) <= width) {
      result += std::string(line) + '\n';
      continue;
    }
    const std::size_t gap = line.substr(0, width / 2).rfind(kColumnGap);
    const std::size_t hang = gap == std::string_view::npos ? 0 : gap + kColumnGap.size();
    const std::string folded = wrap(line.substr(hang), width, hang);
    result += std::string(line.substr(0, hang)) + folded.substr(std::min(hang, folded.size()));
  }
  return result;
}

std::string render_table(const std::vector<Column>& columns, std::vector<Row> rows,
                         std::size_t width, Colour colour) {
  const std::vector<Row> clean = printable_rows(std::move(rows));
  Content content = measure_content(columns, clean);
  Layout layout = arrange(content, width);
  std::vector<FittedColumn> fitted;
  for (std::size_t i = 0; i < layout.shown.size(); ++i) {
    const std::size_t index = layout.shown[i];
    fitted.push_back(content.fitters[index].fit(layout.widths[i]));
    layout.widths[i] = shown_width(columns[index], fitted.back(), layout.widths[i]);
  }
  std::string text = render_headings(columns, layout, colour);
  for (std::size_t number = 0; number < clean.size(); ++number) {
    const Row& row = clean[number];
    std::vector<Cell> cells;
    std::string spilled;
    for (std::size_t i = 0; i < layout.shown.size(); ++i) {
      const std::size_t index = layout.shown[i];
      const Cell& cell = row.cells[index];
      cells.push_back({fitted[i].texts[number], cell.tone});
      if (fitted[i].is_lossy[number]) spilled += spill(columns[index], cell, width);
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
const std::string& select_form(const Cell& cell, std::size_t level) {
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
      widest[level] = std::max(widest[level], display_width(select_form(row.cells[index], level)));
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
  const std::string& text = select_form(cell(row), form.level);
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
    const auto is_too_wide = [&] { return display_width(select_form(shortened, level)) > width; };
    while (level < shortened.shorter.size() && is_too_wide()) ++level;
    fitted.texts.push_back(select_form(shortened, level));
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
