// SPDX-License-Identifier: Apache-2.0
// A validated query: columns are resolved and defaults filled in.
#pragma once

#include "profiler/analysis/column.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/row_store.hpp"
#include "profiler/analysis/selection.hpp"
#include "profiler/analysis/table_format.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

struct QueryPlan {
  Selection selection;
  std::vector<const Column*> columns;
  bool default_columns = true;  // human-readable tables then omit columns without values
  const Column* order = nullptr;
  RowDirection direction = RowDirection::descending;
  std::optional<Aggregate> aggregate;   // nullopt: one row per activity
  std::vector<const Column*> group_by;  // with `aggregate`; empty: one group for all
  const TableFormat* format = nullptr;
  std::int64_t top = 0;
  std::optional<std::size_t> width;
  Peaks peaks;
  bool needs_ceilings = false;  // a column or the order is computed from the ceilings
};

// Returns whether the plan groups by this column.
bool is_key(const QueryPlan& plan, const Column* column);

Result<QueryPlan> plan_query(const AnalysisOptions& options);

}  // namespace bench::analysis
