// SPDX-License-Identifier: Apache-2.0
// From selected activities to the rows of a table: one row each, or one a group.
#pragma once

#include "base/result.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/query_plan.hpp"
#include "profiler/analysis/row_store.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace bench::analysis {

// What is known of a column of the rows that were stored.
struct ColumnFacts {
  bool known = false;     // in one row at least
  bool varies = false;    // not the same in all
  bool differs = false;   // from the column before it that it may repeat (name: type; self: time)
  std::size_t width = 0;  // of the widest text
  Cell first;
};

// Sums over all that were selected, shown or not.
struct Totals {
  std::int64_t selected = 0;
  std::int64_t rows = 0;
  Nanoseconds time{0};
  Nanoseconds longest{0};  // of a row, for bars
  std::int64_t unknown_times = 0;
  std::array<std::int64_t, kRowFlagCount> flags{};
  std::array<std::vector<std::int64_t>, kRowFlagCount> flag_lines;  // the first of each flag
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual Status add(const Subject& subject) = 0;
  // No more is added; the rows are then in rows().
  virtual Status finish() = 0;
  RowStore& rows() { return rows_; }
  const Totals& totals() const { return totals_; }
  const std::vector<ColumnFacts>& facts() const { return facts_; }

 protected:
  Collector(const QueryPlan& plan, const std::string& folder);
  void count(const Subject& subject);
  // Adds the row and what its cells say of their columns.
  Status store(Row row);

  const QueryPlan& plan_;
  RowStore rows_;
  Totals totals_;
  std::vector<ColumnFacts> facts_;
  std::int64_t next_sequence_ = 0;
};

// `plan` outlives it; temporary files in `folder`.
std::unique_ptr<Collector> make_collector(const QueryPlan& plan, const std::string& folder);

}  // namespace bench::analysis
