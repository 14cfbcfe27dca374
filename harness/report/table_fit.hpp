// SPDX-License-Identifier: Apache-2.0
// The texts of one column of a table in a given width.
#pragma once

#include "harness/report/table.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

struct FittedColumn {
  std::vector<std::string> texts;  // one for each row
  // Whether a text does not say what its cell says: flags are left out of it, or another row with
  // another cell has the same text.
  std::vector<bool> is_lossy;
  bool is_lossless() const;
};

// Fits column number `index` of `rows`, of which all texts are valid UTF-8 without control
// characters. A column with a `narrowest` width shows all rows in the same form. If no form fits,
// it cuts all of them behind the same character, chosen so that different cells stay different.
// Any other column takes the longest form of each cell that fits, and is never cut. The column and
// the rows must outlive the fitter, which remembers what it found for a width.
class ColumnFitter {
 public:
  ColumnFitter(const Column& column, const std::vector<Row>& rows, std::size_t index);

  // The width of the heading and of all whole texts.
  std::size_t natural_width() const;
  // The narrowest width in which fit() leaves no text wider than the column.
  std::size_t narrowest_width() const;
  // Whether fit(width) keeps different cells of a column that may be cut different.
  bool tells_rows_apart(std::size_t width);
  FittedColumn fit(std::size_t width);

 private:
  // How a column that may be cut shows its cells.
  struct Form {
    std::size_t level = 0;            // of the cells' forms; 0 is the whole text
    std::optional<std::size_t> head;  // columns before the "..." of a cut; nullopt: no cut
    bool is_lossless = false;
  };

  const Cell& cell(std::size_t row) const { return rows_[row].cells[index_]; }
  std::string shown(std::size_t row, const Form& form, std::size_t width) const;
  bool looks_alike(std::size_t a, std::size_t b, const Form& form, std::size_t width) const;
  bool keeps_rows_apart(const Form& form, std::size_t width);
  bool meets_ellipsis(const Form& form, std::size_t width) const;
  std::optional<Form> whole_form(std::size_t width);
  Form cut_form(std::size_t width);
  const Form& form_for(std::size_t width);
  FittedColumn fit_each_row(std::size_t width) const;

  const Column& column_;
  const std::vector<Row>& rows_;
  std::size_t index_;
  std::vector<std::size_t> widest_;  // texts of each level
  // Rows with different cells that some form showed alike: the next form most often does, too.
  std::vector<std::pair<std::size_t, std::size_t>> lookalikes_;
  std::map<std::size_t, Form> forms_;  // by width
};

// `utf8` in pieces of at most `width` columns.
std::vector<std::string> split_columns(std::string_view utf8, std::size_t width);

}  // namespace bench
