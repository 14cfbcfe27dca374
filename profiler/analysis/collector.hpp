// SPDX-License-Identifier: Apache-2.0
// Turns selected activities into table rows: one per activity or one per group.
#pragma once

#include "base/result.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/query_plan.hpp"
#include "profiler/analysis/row_store.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

// Facts about a column over all stored rows.
struct ColumnFacts {
  bool known = false;     // known in at least one row
  bool varies = false;    // not the same in all rows
  bool differs = false;   // from the column before it that it may repeat (name: type; self: time)
  std::size_t width = 0;  // width of the widest text
  Cell first;
};

// A group that takes the most time.
struct LeadingGroup {
  std::string name;  // values of the columns that group, separated by blanks
  Nanoseconds typical{0}, sum{0};
};

// Sums over all selected activities, shown or not.
struct Totals {
  std::int64_t selected = 0;
  std::int64_t rows = 0;
  Nanoseconds time{0};
  Nanoseconds longest{0};  // longest row, shown or not, for bars
  std::int64_t unknown_times = 0;
  std::array<std::int64_t, kRowFlagCount> flags{};
  std::array<std::vector<std::int64_t>, kRowFlagCount> flag_lines;  // first lines of each flag
  // Only of groups whose typical times were computed.
  Nanoseconds typical{0};
  std::optional<LeadingGroup> by_typical, by_sum;
};

class Collector {
 public:
  virtual ~Collector() = default;
  virtual Status add(const RowContext& context) = 0;
  // Call this after the last add(). The rows are then in rows().
  virtual Status finish() = 0;
  RowStore& rows() { return rows_; }
  const Totals& totals() const { return totals_; }
  const std::vector<ColumnFacts>& facts() const { return facts_; }

 protected:
  Collector(const QueryPlan& plan, const std::string& folder);
  void count(const RowContext& context);
  // Call this for each row, also for those that are not stored.
  void count_row(std::optional<Nanoseconds> time);
  // Stores the row and updates the facts of its columns.
  Status store(Row row);

  const QueryPlan& plan_;
  RowStore rows_;
  Totals totals_;
  std::vector<ColumnFacts> facts_;
  std::vector<std::ptrdiff_t> repeated_;  // for each column, the one that it may repeat, or -1
  std::int64_t next_sequence_ = 0;
};

// `plan` must outlive the collector. Temporary files go to `folder`.
std::unique_ptr<Collector> make_collector(const QueryPlan& plan, const std::string& folder);

}  // namespace bench::analysis
