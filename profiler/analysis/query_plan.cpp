// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/query_plan.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/scope_path.hpp"

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

// Counters have values and no times.
constexpr std::array<std::string_view, 8> kCounterColumns = {
    "number", "name", "start_ns", "value", "value_unit", "layer", "device", "pid"};
constexpr std::array<std::string_view, 5> kCounterGroupColumns = {"count", "value_min", "value_max",
                                                                  "value_last", "value_unit"};
// Shown to humans if any selected activity has a value.
constexpr std::array<std::string_view, 2> kValueColumns = {"value", "value_unit"};

bool selects_only_counters(const AnalysisOptions& options) {
  const std::string_view counter = to_string(ActivityKind::counter);
  const auto are_counters = [&](const std::vector<std::string>& words) {
    return !words.empty() &&
           std::ranges::all_of(words, [&](const auto& w) { return w == counter; });
  };
  return are_counters(options.kinds) || are_counters(options.types);
}

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
  const bool people = plan.format->audience == TableFormat::Audience::people;
  if (selects_only_counters(options)) {
    const std::span<const std::string_view> names =
        plan.aggregate ? std::span<const std::string_view>(kCounterGroupColumns)
                       : std::span<const std::string_view>(kCounterColumns);
    add_columns(names, plan.columns);
    return Done{};
  }
  if (plan.aggregate) {
    add_columns(kGroupColumns, plan.columns);
    if (plan.aggregate != Aggregate::sum) std::erase(plan.columns, *find_column(kTypicalColumn));
  } else {
    add_columns(kRowColumns, plan.columns);
    if (people) add_columns(kValueColumns, plan.columns);
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

namespace bench::analysis {
namespace {

// Returns "create" for "create:cache_hit". An activity without a phase was executed.
std::string_view main_phase(const Activity& activity) {
  const std::string_view phase = activity.attributes.text(Attribute::phase);
  return phase.empty() ? "exec" : phase.substr(0, phase.find(':'));
}

bool contains_path(const std::vector<std::string>& path, const std::vector<std::string>& part) {
  return std::search(path.begin(), path.end(), part.begin(), part.end()) != path.end();
}

bool device_fits(const Activity& activity, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return true;
  const std::string device = device_name(activity);
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return device == name || device.starts_with(name + ":") || device == "cuda:" + name ||
           device == "gpu:" + name;
  });
}

Error bad_pattern(const Error& error) {
  return {error.what, error.where.empty() ? "--name" : error.where, error.next};
}

}  // namespace

Result<Selection> Selection::compile(const AnalysisOptions& options) {
  Selection selection;
  selection.options_ = options;
  for (const std::string& name : options.kinds) {
    const auto kind = enumerator_from_name<ActivityKind>(name);
    if (!kind) {
      return Error{fmt::format("unknown kind {}", quote(name)), "--kind",
                   expectation(name, enumerator_names<ActivityKind>())};
    }
    selection.kinds_.set(static_cast<std::size_t>(*kind));
  }
  if (options.name) {
    auto regex = Regex::compile(*options.name);
    if (!regex.ok()) return bad_pattern(regex.error());
    selection.name_ = *std::move(regex);
  }
  if (options.layer) selection.layer_ = split_scope(*options.layer);
  return selection;
}

Selection::TypeMatch Selection::match_type(const Activity& activity) const {
  if (options_.types.empty()) return TypeMatch::any;
  const std::string_view op = activity.attributes.text(Attribute::op);
  TypeMatch found = TypeMatch::none;
  for (const std::string& word : options_.types) {
    if (word == to_string(activity.kind)) return TypeMatch::kind_or_phase;
    if (activity.attributes.find(Attribute::phase) != nullptr && word == main_phase(activity))
      return TypeMatch::kind_or_phase;
    if (word == operation_type(activity) || (!op.empty() && word == op))
      found = TypeMatch::operation;
  }
  return found;
}

bool Selection::phase_fits(const Activity& activity, TypeMatch type) const {
  if (!options_.phase) {
    // --type dispatch selects a phase that the default would leave out.
    const std::string_view phase = main_phase(activity);
    const bool named =
        type == TypeMatch::kind_or_phase &&
        std::find(options_.types.begin(), options_.types.end(), phase) != options_.types.end();
    return named || phase == "exec";
  }
  switch (*options_.phase) {
    case PhaseFilter::exec:
      return main_phase(activity) == "exec";
    case PhaseFilter::create:
      return main_phase(activity) == "create";
    case PhaseFilter::all:
      return true;
  }
  return true;
}

Level Selection::level(const Activity& activity) const {
  const TypeMatch type = match_type(activity);
  if (kinds_.test(static_cast<std::size_t>(activity.kind)) || type == TypeMatch::kind_or_phase) {
    return Level::work;
  }
  if (kinds_.any()) return Level::none;
  const Level level = facts_of(activity.kind).level;
  // A name that was requested is also shown for kinds that are not executed themselves: an API
  // call.
  if (level == Level::none && type == TypeMatch::operation) return Level::work;
  if (level == Level::work && !phase_fits(activity, type)) return Level::none;
  return level;
}

bool Selection::time_fits(const Activity& activity) const {
  if (!options_.min_time && !options_.max_time) return true;
  const auto& time = activity.duration;
  if (!time) return false;
  return (!options_.min_time || *time >= *options_.min_time) &&
         (!options_.max_time || *time <= *options_.max_time);
}

bool Selection::place_fits(const Activity& activity) const {
  if (options_.direction) {
    const std::string& wanted = *options_.direction;
    if (activity.direction != wanted && !activity.direction.starts_with(wanted + "_")) return false;
  }
  if (layer_.empty()) return true;
  if (!last_scope_fits_ || last_scope_ != activity.scope) {
    last_scope_ = activity.scope;
    last_scope_fits_ = contains_path(split_scope(activity.scope), layer_);
  }
  return *last_scope_fits_;
}

bool Selection::dtype_fits(const Activity& activity) const {
  return options_.dtypes.empty() ||
         std::ranges::find(options_.dtypes, activity.attributes.text(Attribute::dtype)) !=
             options_.dtypes.end();
}

bool Selection::admits(const Activity& activity) const {
  const TypeMatch type = match_type(activity);
  if (type == TypeMatch::none || !phase_fits(activity, type)) return false;
  if (kinds_.any() && !kinds_.test(static_cast<std::size_t>(activity.kind))) return false;
  if (!time_fits(activity) || !place_fits(activity)) return false;
  if (!dtype_fits(activity)) return false;
  if (!device_fits(activity, options_.devices)) return false;
  return !name_ || name_->search(activity.name);
}

}  // namespace bench::analysis
