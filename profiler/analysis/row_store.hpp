// SPDX-License-Identifier: Apache-2.0
// Orders table rows. The first N are kept in a heap; all rows are sorted, on disk if memory does
// not suffice.
#pragma once

#include "base/result.hpp"
#include "base/units.hpp"
#include "profiler/analysis/cell.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

struct Row {
  std::vector<Cell> cells;          // for the columns shown
  Cell key;                         // sort key
  std::int64_t sequence = 0;        // order of arrival
  std::optional<Nanoseconds> time;  // for shares
};

enum class RowDirection { descending, ascending };

// Returns whether `a` comes before `b`: by key, then by arrival. Unknown keys come last in both
// directions.
bool stands_before(const Row& a, const Row& b, RowDirection direction);

class RowStore {
 public:
  // `top` is the number of rows to keep; 0 for all. Temporary files go to `folder`.
  RowStore(std::int64_t top, RowDirection direction, std::string folder);
  ~RowStore();
  RowStore(RowStore&&) noexcept;
  RowStore& operator=(RowStore&&) noexcept;

  // Returns false if a row with this key would not be shown; then its cells are not needed.
  bool wants(const Cell& key) const;
  Status add(Row row);
  // Call finish() after the last add(). next() then returns the rows in order, and false at the
  // end.
  Status finish();
  Result<bool> next(Row& row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench::analysis
