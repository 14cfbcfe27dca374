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
  // Narrowest useful width of a column that may be cut in the middle; nullopt: it is never cut, and
  // gives way only down to the shortest forms of its cells.
  std::optional<std::size_t> narrowest = std::nullopt;
  // Columns with the highest number go first where even the narrowest do not fit; 0: never.
  int expendable = 0;
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
  std::vector<std::string> shorter = {};  // forms for less room, longest first
};

struct Row {
  std::vector<Cell> cells;  // one a column
  std::string note;         // on lines of its own below, wrapped and indented; may be empty
};

// Lines of at most `width` columns, each ending in a newline; two blanks between columns, none at
// the end of a line. A column that may be cut shows all rows in the same form, cut at the same
// place. What no room is left for stands whole on a line of its own below its row: the cell of a
// column that is never cut, and cells that a cut would make look alike. Cells and notes are shown
// as printable() (base/printable.hpp) has them: names come from files.
std::string render_table(const std::vector<Column>& columns, std::vector<Row> rows,
                         std::size_t width, Colour colour);

// Words of `text` on lines of at most `width` columns, each after `indent` blanks. A word that is
// longer goes on in the next line.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// Lines in columns, such as "ok      oneDNN         3.2.0 at ...", in at most `width` columns: what
// is too long goes on below its last column, whose text begins behind two blanks. Other lines stay
// as they are.
std::string fold_lines(std::string_view text, std::size_t width);

// The text between the escape sequences of `tone`.
std::string paint(std::string_view text, Tone tone, Colour colour);

}  // namespace bench
