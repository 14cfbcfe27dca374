// SPDX-License-Identifier: Apache-2.0
// Rows of a table on their way into order: the first N in a heap, or all of them, sorted on disk
// where memory ends.
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
  std::vector<Cell> cells;          // of the columns shown
  Cell key;                         // what it is ordered by
  std::int64_t sequence = 0;        // of arrival
  std::optional<Nanoseconds> time;  // for shares
};

enum class RowDirection { descending, ascending };

// Whether `a` stands before `b`: by key, unknown keys last in both directions, then by arrival.
bool stands_before(const Row& a, const Row& b, RowDirection direction);

class RowStore {
 public:
  // `top` 0: all. Temporary files in `folder`.
  RowStore(std::int64_t top, RowDirection direction, std::string folder);
  ~RowStore();
  RowStore(RowStore&&) noexcept;
  RowStore& operator=(RowStore&&) noexcept;

  // False where a row with this key would not be shown: its cells need not be made.
  bool wants(const Cell& key) const;
  Status add(Row row);
  // No more is added; next() gives the rows in order, false at the end.
  Status finish();
  Result<bool> next(Row& row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench::analysis
