// SPDX-License-Identifier: Apache-2.0
// A validated query: columns are resolved and defaults filled in.
#pragma once

#include "base/pattern.hpp"
#include "base/result.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/row_store.hpp"
#include "profiler/analysis/table_format.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <vector>

namespace bench::analysis {

// Selects the activities that a query concerns.
class Selection {
 public:
  // Returns an error for an unknown kind or a bad pattern.
  static Result<Selection> compile(const AnalysisOptions& options);

  // Returns the level of an activity, ignoring the filters. Returns `work` if the options name its
  // kind or phase.
  Level level(const Activity& activity) const;
  // Returns whether every filter matches.
  bool admits(const Activity& activity) const;

 private:
  enum class TypeMatch { none, any, kind_or_phase, operation };
  TypeMatch match_type(const Activity& activity) const;
  bool phase_fits(const Activity& activity, TypeMatch type) const;
  bool time_fits(const Activity& activity) const;
  bool place_fits(const Activity& activity) const;
  bool dtype_fits(const Activity& activity) const;

  AnalysisOptions options_;
  std::bitset<16> kinds_;
  std::optional<Regex> name_;
  std::vector<std::string> layer_;
  // Scopes repeat, so the result for the last one is cached.
  mutable std::string last_scope_;
  mutable std::optional<bool> last_scope_fits_;
};

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
