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
  // Narrowest useful width of a column whose cells may be cut in the middle. nullopt: the column is
  // never cut; it shrinks only to the shortest forms of its cells.
  std::optional<std::size_t> narrowest = std::nullopt;
  // Order of removal if even the narrowest widths do not fit: the highest number first. 0: never
  // removed.
  int expendable = 0;
};

struct TextCell {
  std::string text;
  Tone tone = Tone::plain;
  std::vector<std::string> shorter = {};  // shorter forms, longest first
};

struct TextRow {
  std::vector<TextCell> cells;  // one per column
  std::string note;             // own lines below the row, wrapped and indented; may be empty
};

// Columns between two columns of a table.
inline constexpr std::size_t kColumnGap = 2;

// A cell of which the final text and the width of its column are known.
struct FittedCell {
  std::string text;
  std::size_t width = 0;  // a longer text makes its line longer
  Align align = Align::left;
  Tone tone = Tone::plain;
};

// Renders one line, which ends in a newline and never in a blank. For tables whose rows are too
// many to keep: render_table() keeps all of them.
std::string render_line(const std::vector<FittedCell>& cells, Colour colour);

// Renders lines of at most `width` columns, each ending in a newline. Two blanks separate columns;
// no line ends in a blank. A column that may be cut shows all rows in the same form, cut at the
// same position. A value without enough room appears completely on its own line below the row. This
// concerns cells of a column that is never cut, and cells that would look equal after a cut. Cells
// and notes pass through printable() (base/printable.hpp), since names come from files.
std::string render_table(const std::vector<TextColumn>& columns, std::vector<TextRow> rows,
                         std::size_t width, Colour colour);

// Fits the texts of one table column into a given width.

struct FittedColumn {
  std::vector<std::string> texts;  // one per row
  // Whether a text does not show its complete cell: flags are omitted, or another row with a
  // different cell has the same text.
  std::vector<bool> is_lossy;
  bool is_lossless() const;
};

// Fits column number `index` of `rows`; all texts must be valid UTF-8 without control characters. A
// column with a `narrowest` width shows all rows in the same form. If no form fits, all texts are
// cut after the same character, chosen so that different cells stay different. Any other column
// shows the longest fitting form of each cell and is never cut. The column and the rows must
// outlive the fitter, which caches its result for each width.
class ColumnFitter {
 public:
  ColumnFitter(const TextColumn& column, const std::vector<TextRow>& rows, std::size_t index);

  // Width of the heading and of all complete texts.
  std::size_t natural_width() const;
  // The narrowest width for which fit() returns no text wider than the column.
  std::size_t narrowest_width() const;
  // Whether fit(width) keeps different cells distinguishable, if the column may be cut.
  bool tells_rows_apart(std::size_t width);
  FittedColumn fit(std::size_t width);

 private:
  // How a column that may be cut shows its cells.
  struct Form {
    std::size_t level = 0;            // index into the cells' forms; 0 is the complete text
    std::optional<std::size_t> head;  // columns before the "..." of a cut; nullopt: not cut
    bool is_lossless = false;
  };

  const TextCell& cell(std::size_t row) const { return rows_[row].cells[index_]; }
  std::string shown(std::size_t row, const Form& form, std::size_t width) const;
  bool looks_alike(std::size_t a, std::size_t b, const Form& form, std::size_t width) const;
  bool keeps_rows_apart(const Form& form, std::size_t width);
  bool meets_ellipsis(const Form& form, std::size_t width) const;
  std::optional<Form> whole_form(std::size_t width);
  Form cut_form(std::size_t width);
  const Form& form_for(std::size_t width);
  FittedColumn fit_each_row(std::size_t width) const;

  const TextColumn& column_;
  const std::vector<TextRow>& rows_;
  std::size_t index_;
  std::vector<std::size_t> widest_;  // widest text of each level
  // Rows with different cells that some form showed with the same text. The next form usually does
  // so, too.
  std::vector<std::pair<std::size_t, std::size_t>> lookalikes_;
  std::map<std::size_t, Form> forms_;  // by width
};

}  // namespace bench
