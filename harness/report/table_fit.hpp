// SPDX-License-Identifier: Apache-2.0
// The texts of one column of a table in a given width.
#pragma once

#include "harness/report/table.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct FittedColumn {
  std::vector<std::string> texts;  // one for each row
  // Whether a text does not say what its cell says: flags are left out of it, or another row with
  // another cell has the same text.
  std::vector<bool> is_lossy;
  bool is_lossless() const;
};

// Column number `index` of `rows` in `width` columns, of which all texts are valid UTF-8 without
// control characters. A column with a `narrowest` width shows all rows in the same form, and where
// no form fits cuts all of them behind the same character, chosen so that different cells stay
// different. Any other column takes the longest form of each cell that fits, and is never cut.
FittedColumn fit_column(const Column& column, const std::vector<Row>& rows, std::size_t index,
                        std::size_t width);

// The narrowest width in which fit_column() leaves no text wider than the column.
std::size_t narrowest_width(const Column& column, const std::vector<Row>& rows, std::size_t index);

// `utf8` in pieces of at most `width` columns.
std::vector<std::string> split_columns(std::string_view utf8, std::size_t width);

}  // namespace bench
