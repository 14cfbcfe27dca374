// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/query_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace bench::analysis {
namespace {

// Columns in the order of their importance. A column without any value is not shown.
constexpr std::array<std::string_view, 27> kRowColumns = {
    "number",    "time_ns",      "self_ns",        "share",      "cumulative_share", "type",
    "name",      "kind",         "layer",          "direction",  "device",           "dtype",
    "cache",     "parameters",   "implementation", "flops",      "flops_per_s",      "bytes",
    "bandwidth", "tensor_cores", "in_shapes",      "out_shapes", "size_bytes",       "reason",
    "trace",     "line",         "flags"};
constexpr std::array<std::string_view, 16> kGroupColumns = {
    "count",       kTypicalColumn, "time_ns",   "self_ns", "share",  "cumulative_share",
    "min_ns",      "max_ns",       "mean_ns",   "p50_ns",  "p95_ns", "flops",
    "flops_per_s", "bytes",        "bandwidth", "flags"};

void add_columns(std::span<const std::string_view> names, std::vector<const Column*>& columns) {
  for (const std::string_view name : names) columns.push_back(*find_column(name));
}

Status choose_columns(const AnalysisOptions& options, QueryPlan& plan) {
  plan.default_columns = options.columns.empty();
  for (const std::string& name : options.columns) {
    auto column = find_column(name);
    if (!column.ok()) return at_option(column.error(), "--columns");
    plan.columns.push_back(*column);
  }
  if (!plan.default_columns) return Done{};
  plan.columns = plan.group_by;
  if (plan.aggregate) {
    add_columns(kGroupColumns, plan.columns);
    if (plan.aggregate != Aggregate::sum) std::erase(plan.columns, *find_column(kTypicalColumn));
  } else {
    add_columns(kRowColumns, plan.columns);
  }
  if (plan.format->name == "markdown") plan.columns.push_back(*find_column("bar"));
  return Done{};
}

Status choose_grouping(const AnalysisOptions& options, QueryPlan& plan) {
  if (options.aggregate || !options.aggregate_by.empty())
    plan.aggregate = options.aggregate.value_or(Aggregate::sum);
  for (const std::string& name : options.aggregate_by) {
    auto column = find_column(name);
    if (!column.ok()) return at_option(column.error(), "--aggregate-by");
    if ((*column)->merge == Merge::statistic || (*column)->merge == Merge::position) {
      return Error{fmt::format("cannot group by `{}`", (*column)->name), "--aggregate-by",
                   "for example --aggregate-by type, or --aggregate-by layer,direction"};
    }
    if (!is_key(plan, *column)) plan.group_by.push_back(*column);
  }
  return Done{};
}

Status choose_order(const AnalysisOptions& options, QueryPlan& plan) {
  // A sum would put the group first in which a single activity was disturbed.
  const std::string_view standard = plan.aggregate == Aggregate::sum ? kTypicalColumn : "time_ns";
  std::string_view name = options.order_by ? std::string_view(*options.order_by) : standard;
  if (name.starts_with('+') || name.starts_with('-')) {
    if (name.front() == '+') plan.direction = RowDirection::ascending;
    name.remove_prefix(1);
  }
  auto column = find_column(name);
  if (!column.ok()) return at_option(column.error(), "--order-by");
  plan.order = *column;
  // Shares and bars are computed from the time after sorting, and grow with it.
  if (plan.order->merge == Merge::position) plan.order = *find_column("time_ns");
  return Done{};
}

Status choose_format(const AnalysisOptions& options, QueryPlan& plan) {
  BENCH_ASSIGN_OR_RETURN(plan.format, find_table_format(options.format.value_or("table")));
  const bool people = plan.format->audience == TableFormat::Audience::people;
  plan.top = options.top.value_or(people ? kDefaultTop : 0);
  if (!options.width) return Done{};
  if (plan.format->name != "table") {
    return Error{fmt::format("format `{}` has no width", plan.format->name), "--width",
                 "only --format table supports a width"};
  }
  plan.width = static_cast<std::size_t>(*options.width);
  return Done{};
}

}  // namespace

bool is_key(const QueryPlan& plan, const Column* column) {
  return std::ranges::find(plan.group_by, column) != plan.group_by.end();
}

Result<QueryPlan> plan_query(const AnalysisOptions& options) {
  BENCH_ASSIGN_OR_RETURN(Selection selection, Selection::compile(options));
  QueryPlan plan;
  plan.selection = std::move(selection);
  plan.peaks = {options.peak_bandwidth, options.peak_flops};
  BENCH_RETURN_IF_ERROR(choose_format(options, plan));
  BENCH_RETURN_IF_ERROR(choose_grouping(options, plan));
  BENCH_RETURN_IF_ERROR(choose_columns(options, plan));
  BENCH_RETURN_IF_ERROR(choose_order(options, plan));
  const auto from_ceilings = [](const Column* column) { return column->basis == Basis::ceilings; };
  plan.needs_ceilings =
      from_ceilings(plan.order) || std::ranges::any_of(plan.columns, from_ceilings);
  return plan;
}

}  // namespace bench::analysis

namespace bench {

Status check_options(const AnalysisOptions& options) {
  const auto plan = analysis::plan_query(options);
  return plan.ok() ? Status(Done{}) : Status(plan.error());
}

bool needs_ceilings(const AnalysisOptions& options) {
  const auto plan = analysis::plan_query(options);
  return plan.ok() && plan->needs_ceilings;
}

}  // namespace bench
