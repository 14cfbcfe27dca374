// SPDX-License-Identifier: Apache-2.0
// Tables of aligned columns for a terminal.
#pragma once

#include "base/terminal_text.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

enum class Align { left, right };

struct TextColumn {
  std::string heading;
  Align align = Align::left;
  // Narrowest useful width of a column whose cells may be cut in the middle. If nullopt, the column
  // is never cut; it shrinks only to the shortest forms of its cells.
  std::optional<std::size_t> narrowest = std::nullopt;
  // Order of removal if even the narrowest widths do not fit: columns with the highest number go
  // first. A column with 0 is never removed.
  int expendable = 0;
};

struct TextCell {
  std::string text;
  Tone tone = Tone::plain;
  std::vector<std::string> shorter = {};  // shorter forms, longest first
};

struct TextRow {
  std::vector<TextCell> cells;  // one per column
  std::string note;             // text below the row, wrapped and indented; may be empty
};

// Number of blanks between two columns of a table.
inline constexpr std::size_t kColumnGap = 2;

// A cell with its final text and the width of its column.
struct FittedCell {
  std::string text;
  std::size_t width = 0;  // a longer text makes its line longer
  Align align = Align::left;
  Tone tone = Tone::plain;
};

// Renders one line, which ends in a newline without blanks before it. For tables with too many rows
// for render_table(), which needs all rows in memory.
std::string render_line(const std::vector<FittedCell>& cells, Colour colour);

// Renders lines of at most `width` columns, each ending in a newline. Two blanks separate columns;
// no line ends in a blank. A column that may be cut shows all rows in the same form, cut at the
// same position. Cells that are too wide for a column that is never cut appear completely on their
// own line below the row. So do different cells that look equal after a cut. Cells and notes pass
// through printable() (base/printable.hpp), since names come from files.
std::string render_table(const std::vector<TextColumn>& columns, std::vector<TextRow> rows,
                         std::size_t width, Colour colour);

// The texts of one table column, fitted into a width.
struct FittedColumn {
  std::vector<std::string> texts;  // one per row
  // Whether a text does not show its complete cell: flags are omitted, or another row with a
  // different cell has the same text.
  std::vector<bool> is_lossy;
  bool is_lossless() const;
};

// Fits column number `index` of `rows` into a width. All texts must be valid UTF-8 without control
// characters. A column with a `narrowest` width shows all rows in the same form. If no form fits,
// it cuts all texts at the same position, chosen so that different cells stay different. Any other
// column shows the longest fitting form of each cell and is never cut. The column and the rows must
// outlive the fitter, which caches its result for each width.
class ColumnFitter {
 public:
  ColumnFitter(const TextColumn& column, const std::vector<TextRow>& rows, std::size_t index);

  // Returns the width of the heading and of all complete texts.
  std::size_t natural_width() const;
  // Returns the narrowest width for which fit() returns no text wider than the column.
  std::size_t narrowest_width() const;
  // Returns false if fit(width) would show different cells with the same text after a cut.
  bool keeps_rows_distinct(std::size_t width);
  FittedColumn fit(std::size_t width);

 private:
  // How a column that may be cut shows its cells.
  struct Form {
    std::size_t level = 0;            // index into the cells' forms; 0 is the complete text
    std::optional<std::size_t> head;  // columns before the "..." of a cut; nullopt: not cut
    bool is_lossless = false;
  };

  const TextCell& cell(std::size_t row) const { return rows_[row].cells[index_]; }
  std::string render_cell(std::size_t row, const Form& form, std::size_t width) const;
  bool look_equal(std::size_t a, std::size_t b, const Form& form, std::size_t width) const;
  bool keeps_rows_distinct(const Form& form, std::size_t width);
  bool repeats_ellipsis(const Form& form, std::size_t width) const;
  std::optional<Form> find_uncut_form(std::size_t width);
  Form choose_cut_form(std::size_t width);
  const Form& form_for(std::size_t width);
  FittedColumn fit_each_row(std::size_t width) const;

  const TextColumn& column_;
  const std::vector<TextRow>& rows_;
  std::size_t index_;
  std::vector<std::size_t> widest_;  // widest text of each level
  // Pairs of rows with different cells that some form showed with the same text. Other forms
  // usually do so, too.
  std::vector<std::pair<std::size_t, std::size_t>> lookalikes_;
  std::map<std::size_t, Form> forms_;  // by width
};

}  // namespace bench
