// SPDX-License-Identifier: Apache-2.0
// table: one row per column
#include "harness/report/case_table.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_set>

namespace bench {
namespace {

using analysis::Quantity;
using ColumnRole = CaseColumn::Role;

CaseValue to_case_value(const std::string& text) {
  return text.empty() ? CaseValue{} : CaseValue{text};
}
CaseValue to_case_value(const std::optional<std::string>& text) {
  return text ? CaseValue{*text} : CaseValue{};
}
CaseValue case_time(const std::optional<Nanoseconds>& time) {
  return time ? CaseValue{std::int64_t{time->count()}} : CaseValue{};
}

template <auto Member>
CaseValue summary_time(const CaseRecord& record) {
  if (!record.time) return {};
  return case_time(std::optional<Nanoseconds>((*record.time).*Member));
}

template <auto Member>
CaseValue memory_value(const CaseRecord& record) {
  return record.memory ? CaseValue{((*record.memory).*Member).count} : CaseValue{};
}

template <auto Member>
CaseValue latency_time(const CaseRecord& record) {
  return record.latency ? case_time(((*record.latency).*Member).time) : CaseValue{};
}

// The time of an iteration is its latency unless other iterations run beside it.
template <auto OfLatency, auto OfTime>
CaseValue percentile_time(const CaseRecord& record) {
  return record.latency ? latency_time<OfLatency>(record) : summary_time<OfTime>(record);
}

template <class Rate>
CaseValue case_rate(const std::optional<Rate>& rate) {
  return rate ? CaseValue{rate->value} : CaseValue{};
}

// Returns half the width of the interval, relative to the median: the uncertainty as one number.
CaseValue case_interval(const CaseRecord& record) {
  const auto& time = record.time;
  if (!time || !time->low || !time->high || time->median.count() <= 0) return {};
  return static_cast<double>((*time->high - *time->low).count()) / 2 /
         static_cast<double>(time->median.count());
}

CaseValue case_flags(const CaseRecord& record) {
  std::string text;
  for (const Flag flag : record.flags) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", to_string(flag));
  }
  return to_case_value(text);
}

CaseValue case_layers(const CaseRecord& record) {
  std::string text;
  for (const std::string& layer : record.layers) text += (text.empty() ? "" : " ") + layer;
  return to_case_value(text);
}

// The values of a tuned case: what the library takes by itself, and the best candidate. Without
// another candidate that was measured, the best one and the cost are unknown.
CaseValue chosen_candidate(const CaseRecord& record) {
  return record.regret ? CaseValue{record.regret->chosen} : CaseValue{};
}
CaseValue chosen_time(const CaseRecord& record) {
  return record.regret ? case_time(std::optional(record.regret->chosen_time)) : CaseValue{};
}
CaseValue best_candidate(const CaseRecord& record) {
  if (!record.regret || !record.regret->is_compared()) return {};
  return record.regret->has_cost() ? CaseValue{record.regret->best} : chosen_candidate(record);
}
CaseValue best_time(const CaseRecord& record) {
  if (!record.regret || !record.regret->is_compared()) return {};
  return record.regret->has_cost() ? case_time(std::optional(record.regret->best_time))
                                   : chosen_time(record);
}
CaseValue choice_cost(const CaseRecord& record) {
  if (!record.regret || !record.regret->is_compared()) return {};
  return CaseValue{record.regret->cost()};
}

constexpr Quantity kPlain = Quantity::none;

constexpr std::array kCaseColumns = {
    CaseColumn{"case", "case", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return CaseValue{r.id}; }, "id of the case"},
    CaseColumn{"op", "op", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(r.op); }, "operator"},
    CaseColumn{"direction", "direction", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(r.direction); }, "direction"},
    CaseColumn{"dtype", "dtype", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(r.dtype); }, "data type"},
    CaseColumn{"backend", "backend", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(r.backend); }, "library"},
    CaseColumn{"device", "device", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(r.device); }, "device"},
    CaseColumn{"cache", "cache", kPlain, ColumnRole::identity,
               [](const CaseRecord& r) { return to_case_value(split_id(r.id).cache); },
               "what stays in the caches between iterations"},
    CaseColumn{"median_ns", "median", Quantity::time, ColumnRole::fact,
               summary_time<&TimeSummary::median>, "time of one iteration"},
    CaseColumn{"interval", "interval +-", Quantity::share, ColumnRole::fact, case_interval,
               "half the width of the median's interval, relative to the median"},
    CaseColumn{"low_ns", "low", Quantity::time, ColumnRole::fact, summary_time<&TimeSummary::low>,
               "lower end of the interval"},
    CaseColumn{"high_ns", "high", Quantity::time, ColumnRole::fact,
               summary_time<&TimeSummary::high>, "upper end of the interval"},
    CaseColumn{"min_ns", "min", Quantity::time, ColumnRole::fact, summary_time<&TimeSummary::min>,
               "shortest iteration"},
    CaseColumn{"q25_ns", "q25", Quantity::time, ColumnRole::fact, summary_time<&TimeSummary::q25>,
               "lower quartile of the iterations"},
    CaseColumn{"q75_ns", "q75", Quantity::time, ColumnRole::fact, summary_time<&TimeSummary::q75>,
               "upper quartile of the iterations"},
    CaseColumn{"max_ns", "max", Quantity::time, ColumnRole::fact, summary_time<&TimeSummary::max>,
               "longest iteration"},
    CaseColumn{"flops_per_s", "FLOP/s", Quantity::flop_rate, ColumnRole::fact,
               [](const CaseRecord& r) { return case_rate(r.flops_per_s); }, "achieved FLOP rate"},
    CaseColumn{"bytes_per_s", "B/s", Quantity::byte_rate, ColumnRole::fact,
               [](const CaseRecord& r) { return case_rate(r.bytes_per_s); }, "achieved byte rate"},
    CaseColumn{"items_per_s", "items/s", Quantity::item_rate, ColumnRole::fact,
               [](const CaseRecord& r) { return case_rate(r.items_per_s); },
               "images, sequences or iterations per second, of all streams together"},
    CaseColumn{"streams", "streams", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.streams ? CaseValue{std::int64_t{*r.streams}} : CaseValue{};
               },
               "instances that ran side by side, if more than one"},
    CaseColumn{"p50_ns", "p50", Quantity::time, ColumnRole::fact,
               percentile_time<&Latency::p50, &TimeSummary::median>,
               "with streams, the latency that half of the iterations do not exceed while all "
               "streams run; else the median"},
    CaseColumn{"p90_ns", "p90", Quantity::time, ColumnRole::fact,
               percentile_time<&Latency::p90, &TimeSummary::p90>,
               "latency, or without streams time, that 90 % of the iterations do not exceed"},
    CaseColumn{"p99_ns", "p99", Quantity::time, ColumnRole::fact,
               percentile_time<&Latency::p99, &TimeSummary::p99>,
               "latency, or without streams time, that 99 % of the iterations do not exceed"},
    CaseColumn{"flops", "FLOPs", Quantity::flop, ColumnRole::fact,
               [](const CaseRecord& r) { return r.work ? CaseValue{r.work->flops} : CaseValue{}; },
               "floating-point operations of one iteration"},
    CaseColumn{"bytes", "bytes", Quantity::byte, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.work ? CaseValue{r.work->traffic().count} : CaseValue{};
               },
               "bytes that one iteration must move"},
    CaseColumn{"efficiency", "efficiency", Quantity::share, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.roofline ? CaseValue{r.roofline->efficiency} : CaseValue{};
               },
               "ideal time over median"},
    CaseColumn{"bound", "bound", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) {
                 if (!r.roofline) return CaseValue{};
                 return CaseValue{std::string(to_string(r.roofline->bound))};
               },
               "what limits the case: compute, memory, cache, launch"},
    CaseColumn{"ideal_ns", "ideal", Quantity::time, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.roofline ? case_time(std::optional(r.roofline->ideal)) : CaseValue{};
               },
               "shortest time that the ceilings of the machine permit"},
    CaseColumn{"intensity", "FLOP/byte", Quantity::ratio, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.roofline ? CaseValue{r.roofline->intensity_flops_per_byte} : CaseValue{};
               },
               "arithmetic intensity in FLOPs per byte"},
    CaseColumn{"peak_bytes", "memory", Quantity::byte, ColumnRole::fact,
               memory_value<&MemoryUse::peak>, "peak memory of the case"},
    CaseColumn{"weights_bytes", "weights", Quantity::byte, ColumnRole::fact,
               memory_value<&MemoryUse::weights>, "memory of the weights"},
    CaseColumn{"workspace_bytes", "workspace", Quantity::byte, ColumnRole::fact,
               memory_value<&MemoryUse::workspace>, "memory of the kernel's workspace"},
    CaseColumn{"create_ns", "creation", Quantity::time, ColumnRole::fact,
               [](const CaseRecord& r) { return case_time(r.preparation.create); },
               "time to create the kernel"},
    CaseColumn{"reorder_ns", "reorders", Quantity::time, ColumnRole::fact,
               [](const CaseRecord& r) { return case_time(r.preparation.reorder); },
               "time to pack inputs and weights"},
    CaseColumn{"first_run_ns", "first run", Quantity::time, ColumnRole::fact,
               [](const CaseRecord& r) { return case_time(r.preparation.first_run); },
               "time of the first iteration"},
    CaseColumn{
        "at_canary_ns", "canary", Quantity::time, ColumnRole::fact,
        [](const CaseRecord&
               r) { return r.time && r.time->at ? case_time(r.time->at->canary) : CaseValue{}; },
        "speed of the machine at which the time holds, as the time of its canary"},
    CaseColumn{"implementation", "implementation", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) { return to_case_value(r.implementation); },
               "kernel that the library chose"},
    CaseColumn{"network", "network", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) { return to_case_value(r.network); }, "network of a layer"},
    CaseColumn{"layers", "layers", kPlain, ColumnRole::fact, case_layers,
               "names of the network's layers that this case measures"},
    CaseColumn{"outcome", "outcome", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) { return CaseValue{std::string(to_string(r.outcome))}; },
               "ok, or why there is no time"},
    CaseColumn{"flags", "flags", kPlain, ColumnRole::fact, case_flags,
               "warnings about an ok case, such as noisy"},
    CaseColumn{"reason", "reason", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) { return to_case_value(r.reason); },
               "reason of the outcome"},
    CaseColumn{"source", "source", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) { return to_case_value(r.source); },
               "place in the configuration"},
    CaseColumn{"chosen", "chosen", kPlain, ColumnRole::fact, chosen_candidate,
               "with `tune`: what the library takes by itself"},
    CaseColumn{"chosen_ns", "chosen takes", Quantity::time, ColumnRole::fact, chosen_time,
               "time of `chosen` while the candidates were measured"},
    CaseColumn{"best", "best", kPlain, ColumnRole::fact, best_candidate,
               "candidate that is faster beyond the noise; `chosen` again if none is"},
    CaseColumn{"best_ns", "best takes", Quantity::time, ColumnRole::fact, best_time,
               "time of `best` while the candidates were measured"},
    CaseColumn{"choice_cost", "choice costs", Quantity::share, ColumnRole::fact, choice_cost,
               "time that `chosen` takes more than `best`, relative to `best`; 0 within the noise"},
    CaseColumn{"mean_ns", "mean", Quantity::time, ColumnRole::fact,
               summary_time<&TimeSummary::mean>, "mean of the iterations"},
    CaseColumn{"stddev_ns", "std. dev.", Quantity::time, ColumnRole::fact,
               summary_time<&TimeSummary::deviation>, "standard deviation of the iterations"},
    CaseColumn{"multiplicity", "multiplicity", kPlain, ColumnRole::fact,
               [](const CaseRecord& r) {
                 return r.multiplicity ? CaseValue{std::int64_t{*r.multiplicity}} : CaseValue{};
               },
               "how often a program executes the case, or a network has the layer, if stated"},
};

constexpr std::array<std::string_view, 9> kDefaultColumns = {
    "case",       "median_ns", "interval",       "flops_per_s", "bytes_per_s",
    "efficiency", "bound",     "implementation", "outcome"};

// Further columns for cases with streams, and the column that they follow.
constexpr std::array<std::string_view, 4> kServingColumns = {"items_per_s", "p50_ns", "p90_ns",
                                                             "p99_ns"};
constexpr std::string_view kColumnBeforeServing = "interval";

const CaseColumn* find_case_column(std::string_view name) {
  const auto* found = std::ranges::find(kCaseColumns, name, &CaseColumn::name);
  return found == kCaseColumns.end() ? nullptr : found;
}

Error make_unknown_column_error(std::string_view name, std::string_view option) {
  std::vector<std::string_view> names;
  for (const CaseColumn& column : kCaseColumns) names.push_back(column.name);
  return Error{fmt::format("unknown column {}", quote(name)), std::string(option),
               expectation(name, names)};
}

}  // namespace

bool CaseColumn::is_text() const { return quantity == kPlain; }

std::span<const CaseColumn> case_columns() { return kCaseColumns; }

const CaseColumn& case_column(std::string_view name) {
  const CaseColumn* column = find_case_column(name);
  assert(column != nullptr);
  return *column;
}

Result<CaseColumns> choose_case_columns(const std::vector<std::string>& names) {
  CaseColumns columns;
  for (const std::string& name : names) {
    const CaseColumn* column = find_case_column(name);
    if (column == nullptr) return make_unknown_column_error(name, "--columns");
    columns.push_back(column);
  }
  return columns;
}

CaseColumns default_case_columns(const std::vector<CaseRecord>& cases) {
  const bool has_streams = std::ranges::any_of(
      cases, [](const CaseRecord& record) { return record.latency.has_value(); });
  CaseColumns columns;
  for (const std::string_view name : kDefaultColumns) {
    columns.push_back(&case_column(name));
    if (!has_streams || name != kColumnBeforeServing) continue;
    for (const std::string_view serving : kServingColumns) columns.push_back(&case_column(serving));
  }
  return columns;
}

std::string readable_cell(const CaseColumn& column, const CaseRecord& record) {
  return analysis::readable(column.value(record), column.quantity);
}

TableColumn table_column(const CaseColumn& column) {
  constexpr std::array<std::string_view, 7> kProse = {
      "implementation", "layers", "outcome", "reason", "source", "chosen", "best"};
  const ColumnKind kind = !column.is_text()                             ? ColumnKind::number
                          : column.name == "case"                       ? ColumnKind::id
                          : std::ranges::count(kProse, column.name) > 0 ? ColumnKind::prose
                                                                        : ColumnKind::text;
  return {std::string(column.heading), kind};
}

Table case_table(const CaseColumns& columns, const std::vector<CaseRecord>& cases) {
  Table table;
  for (const CaseColumn* column : columns) table.columns.push_back(table_column(*column));
  for (const CaseRecord& record : cases) {
    TableRow& row = table.rows.emplace_back();
    for (const CaseColumn* column : columns)
      row.cells.push_back({readable_cell(*column, record), column->value(record)});
  }
  return table;
}

CaseColumns identity_columns() {
  CaseColumns identity;
  for (const CaseColumn& column : kCaseColumns) {
    if (column.role == CaseColumn::Role::identity) identity.push_back(&column);
  }
  return identity;
}

std::string csv_heading(const CaseColumns& columns) {
  std::string line;
  for (const CaseColumn* column : columns) {
    line += fmt::format("{}{}", column == columns.front() ? "" : ",", column->name);
  }
  return line;
}

std::string csv_line(const CaseColumns& columns, const CaseRecord& record) {
  std::string line;
  for (const CaseColumn* column : columns) {
    if (column != columns.front()) line += ',';
    analysis::append_csv(column->value(record), line);
  }
  return line;
}

Status sort_cases(std::string_view order, std::vector<CaseRecord>& cases) {
  const bool is_ascending = order.starts_with('+');
  const std::string_view name = order.substr(is_ascending ? 1 : 0);
  const CaseColumn* column = find_case_column(name);
  if (column == nullptr) return make_unknown_column_error(name, "--sort");
  std::ranges::stable_sort(cases, [&](const CaseRecord& a, const CaseRecord& b) {
    const CaseValue first = column->value(a);
    const CaseValue second = column->value(b);
    if (!analysis::is_known(first) || !analysis::is_known(second)) {
      return analysis::is_known(first) && !analysis::is_known(second);
    }
    const int difference = analysis::compare(first, second);
    return is_ascending ? difference < 0 : difference > 0;
  });
  return Done{};
}

void keep_cases(const std::vector<std::string>& ids, Report& report) {
  const std::unordered_set<std::string_view> kept(ids.begin(), ids.end());
  const auto is_dropped = [&](const auto& record) { return !kept.contains(record.id); };
  std::erase_if(report.cases, is_dropped);
  std::erase_if(report.processes, is_dropped);
  std::erase_if(report.profile_passes, is_dropped);
}

void keep_top_cases(std::int64_t top, Report& report) {
  if (top <= 0 || static_cast<std::size_t>(top) >= report.cases.size()) return;
  std::vector<std::string> ids;
  for (const CaseRecord& record : std::span(report.cases).first(static_cast<std::size_t>(top))) {
    ids.push_back(record.id);
  }
  keep_cases(ids, report);
}

}  // namespace bench
