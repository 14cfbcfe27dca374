// SPDX-License-Identifier: Apache-2.0
// Aligned columns for a terminal.
#pragma once

#include "harness/report/console.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Align { left, right };
enum class Tone { plain, good, warning, bad, heading };

struct Column {
  std::string heading;
  Align align = Align::left;
  // Narrowest useful width of a column whose cells may be cut in the middle. nullopt: the column is
  // never cut; it shrinks only to the shortest forms of its cells.
  std::optional<std::size_t> narrowest = std::nullopt;
  // Order of removal if even the narrowest widths do not fit: the highest number first. 0: never
  // removed.
  int expendable = 0;
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  std::vector<std::string> shorter = {};  // shorter forms, longest first
};

struct Row {
  std::vector<Cell> cells;  // one per column
  std::string note;         // own lines below the row, wrapped and indented; may be empty
};

// Renders lines of at most `width` columns, each ending in a newline. Two blanks separate columns;
// no line ends in a blank. A column that may be cut shows all rows in the same form, cut at the
// same position. A value without enough room appears completely on its own line below the row. This
// concerns cells of a column that is never cut, and cells that would look equal after a cut. Cells
// and notes pass through printable() (base/printable.hpp), since names come from files.
std::string render_table(const std::vector<Column>& columns, std::vector<Row> rows,
                         std::size_t width, Colour colour);

// Wraps the words of `text` to lines of at most `width` columns, each after `indent` blanks. Splits
// a word that is longer.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// Folds lines with columns, such as "ok      oneDNN         3.2.0 at ...", to at most `width`
// columns. A long line continues below its last column, whose text starts after two blanks. Other
// lines stay unchanged.
std::string fold_lines(std::string_view text, std::size_t width);

// Encloses the text in the escape sequences of `tone`.
std::string paint(std::string_view text, Tone tone, Colour colour);

}  // namespace bench
