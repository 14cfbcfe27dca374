// SPDX-License-Identifier: Apache-2.0
// table: one row per column
#include "profiler/analysis/column.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace bench::analysis {
namespace {

Cell text_cell(std::string_view text) { return text.empty() ? Cell() : Cell(std::string(text)); }

Cell time_cell(std::optional<Nanoseconds> time) {
  return time ? Cell(std::int64_t{time->count()}) : Cell();
}

template <class Number>
Cell number_cell(const std::optional<Number>& number) {
  return number ? Cell(*number) : Cell();
}

Cell attribute_cell(const RowContext& context, const Column& column) {
  const AttributeValue* value = context.activity.attributes.find(*column.attribute);
  if (value == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(value)) return text_cell(*text);
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  return std::get<double>(*value);
}

std::optional<double> compute_rate(const Activity& activity, Attribute work) {
  const auto amount = activity.attributes.integer(work);
  if (!amount || !activity.duration) return std::nullopt;
  const auto rate = Flops{*amount} / *activity.duration;
  return rate ? std::optional(rate->value) : std::nullopt;
}

std::optional<double> compute_intensity(const Activity& activity) {
  const auto flops = activity.attributes.integer(Attribute::flops);
  const auto bytes = activity.attributes.integer(Attribute::bytes);
  if (!flops || !bytes || *bytes <= 0) return std::nullopt;
  return static_cast<double>(*flops) / static_cast<double>(*bytes);
}

Cell ideal_cell(const RowContext& context, const Column&) {
  return context.ideal ? time_cell(context.ideal->time) : Cell();
}

Cell bound_cell(const RowContext& context, const Column&) {
  return context.ideal ? text_cell(context.ideal->bound) : Cell();
}

Cell efficiency_cell(const RowContext& context, const Column&) {
  const auto& time = context.activity.duration;
  if (!context.ideal || !time || time->count() <= 0) return {};
  return static_cast<double>(context.ideal->time.count()) / static_cast<double>(time->count());
}

// Kinds that do the work themselves. Other kinds enclose or accompany it.
bool does_work(const Activity& activity) {
  const bool may_work =
      activity.kind == ActivityKind::kernel || activity.kind == ActivityKind::primitive;
  return may_work && is_executed(activity);
}

std::string format_flags(const RowContext& context) {
  std::string text;
  for (std::size_t i = 0; i < kRowFlagCount; ++i) {
    const auto flag = static_cast<RowFlag>(i);
    if (!has_flag(context, flag)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(flag));
  }
  return text;
}

Cell group_flags(const GroupStatistics& group, Aggregate) {
  std::string text;
  for (std::size_t i = 0; i < kRowFlagCount; ++i) {
    if (group.flags[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", group.flags[i],
                        to_string(static_cast<RowFlag>(i)));
  }
  return text_cell(text);
}

// Process and thread ids start at 1. A foreign file may contain none.
Cell track_cell(std::int64_t number) { return number > 0 ? Cell(number) : Cell(); }

Cell duration_cell(const RowContext& c, const Column&) { return time_cell(c.activity.duration); }

Cell value_cell(const RowContext& context, const Column&) {
  return number_cell(context.activity.attributes.real(Attribute::value));
}

Cell no_cell(const RowContext&, const Column&) { return {}; }

template <class Function>
constexpr Column text_column(std::string_view name, std::string_view help, Function of) {
  return Column{name, name,    Quantity::none, Merge::equal, help,
                of,   nullptr, std::nullopt,   false,        Position::none};
}

template <class Function>
constexpr Column number_column(std::string_view name, std::string_view help, Function of) {
  return Column{name, name,    Quantity::none, Merge::equal, help,
                of,   nullptr, std::nullopt,   true,         Position::none};
}

template <class OfActivity, class OfGroup>
constexpr Column statistic_column(std::string_view name, std::string_view heading,
                                  Quantity quantity, std::string_view help, OfActivity of,
                                  OfGroup of_group) {
  return Column{name, heading, quantity, Merge::statistic, help, of, of_group, std::nullopt, true};
}

constexpr Column with_ceilings(Column column) {
  column.basis = Basis::ceilings;
  return column;
}

constexpr Column position_column(Position position, std::string_view name, std::string_view heading,
                                 Quantity quantity, std::string_view help) {
  return Column{name,    heading,      quantity, Merge::position, help, nullptr,
                nullptr, std::nullopt, true,     position};
}

// Columns that are not attributes, in the order of the help.
constexpr std::array kOwnColumns = {
    position_column(Position::number, "number", "#", Quantity::none,
                    "number of the row in this table"),
    text_column("name", "name of the activity",
                [](const RowContext& c, const Column&) { return text_cell(c.activity.name); }),
    text_column(
        "kind", "primitive, kernel, memcpy, ...",
        [](const RowContext& c, const Column&) { return text_cell(to_string(c.activity.kind)); }),
    text_column(
        "type", "operator: the library's name, else the tool's, else the activity's",
        [](const RowContext& c, const Column&) { return text_cell(operation_type(c.activity)); }),
    text_column("layer", "path of scopes: network:layer",
                [](const RowContext& c, const Column&) { return text_cell(c.activity.scope); }),
    text_column("direction", "forward, backward_data, ...",
                [](const RowContext& c, const Column&) { return text_cell(c.activity.direction); }),
    text_column("case", "id of the case",
                [](const RowContext& c, const Column&) { return text_cell(c.activity.case_id); }),
    text_column(
        "device", "cpu, cuda:0; gpu:0 for an engine of oneDNN",
        [](const RowContext& c, const Column&) { return text_cell(device_name(c.activity)); }),
    number_column(
        "stream", "stream of the device",
        [](const RowContext& c, const Column&) { return number_cell(c.activity.track.stream); }),
    number_column(
        "pid", "process",
        [](const RowContext& c, const Column&) { return track_cell(c.activity.track.pid); }),
    number_column(
        "tid", "thread",
        [](const RowContext& c, const Column&) { return track_cell(c.activity.track.tid); }),
    number_column("correlation", "the same value for a launch and the work that it launched",
                  [](const RowContext& c, const Column&) {
                    const auto& id = c.activity.correlation;
                    return id ? Cell(static_cast<std::int64_t>(*id)) : Cell();
                  }),
    Column{"start_ns", "start [ns]", Quantity::none, Merge::equal, "start time, CLOCK_MONOTONIC",
           [](const RowContext& c, const Column&) { return time_cell(c.activity.start); }, nullptr,
           std::nullopt, true, Position::none},
    statistic_column(
        "time_ns", "time", Quantity::time, "duration; for a group: according to --aggregate",
        duration_cell,
        [](const GroupStatistics& g, Aggregate by) { return time_cell(g.times.aggregate(by)); }),
    statistic_column(
        "self_ns", "self", Quantity::time,
        "duration without nested activities; for a group: the sum",
        [](const RowContext& c, const Column&) { return time_cell(c.self); },
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.self); }),
    position_column(Position::share, "share", "share", Quantity::share,
                    "fraction of the time of all selected activities"),
    position_column(Position::cumulative, "cumulative_ns", "cumulative", Quantity::time,
                    "time of this row and the rows above"),
    position_column(Position::cumulative_share, "cumulative_share", "cum. share", Quantity::share,
                    "fraction of this row and the rows above"),
    statistic_column(
        "count", "count", Quantity::none, "activities of the group",
        [](const RowContext&, const Column&) { return Cell(std::int64_t{1}); },
        [](const GroupStatistics& g, Aggregate) { return Cell(g.count); }),
    statistic_column(
        kTypicalColumn, "typical", Quantity::time,
        "sum without outliers: each call's median times its number; the default order of groups",
        duration_cell, [](const GroupStatistics& g, Aggregate) { return time_cell(g.typical); }),
    statistic_column("total_ns", "total", Quantity::time, "sum of the durations of a group",
                     duration_cell,
                     [](const GroupStatistics& g, Aggregate) {
                       return time_cell(g.times.aggregate(Aggregate::sum));
                     }),
    statistic_column("min_ns", "min", Quantity::time, "shortest of a group", duration_cell,
                     [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.min()); }),
    statistic_column("max_ns", "max", Quantity::time, "longest of a group", duration_cell,
                     [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.max()); }),
    statistic_column("mean_ns", "mean", Quantity::time, "mean of a group", duration_cell,
                     [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.mean()); }),
    statistic_column(
        "p50_ns", "p50", Quantity::time, "median of a group, within 1 %", duration_cell,
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.quantile(0.50)); }),
    statistic_column(
        "p95_ns", "p95", Quantity::time, "95th percentile of a group, within 1 %", duration_cell,
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.quantile(0.95)); }),
    statistic_column(
        "p90_ns", "p90", Quantity::time, "90th percentile of a group, within 1 %", duration_cell,
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.quantile(0.90)); }),
    statistic_column(
        "p99_ns", "p99", Quantity::time, "99th percentile of a group, within 1 %", duration_cell,
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.quantile(0.99)); }),
    statistic_column(
        "stddev_ns", "std. dev.", Quantity::time,
        "standard deviation of a group; n/a for fewer than two activities", no_cell,
        [](const GroupStatistics& g, Aggregate) { return time_cell(g.times.deviation()); }),
    statistic_column(
        "flops_per_s", "FLOP/s", Quantity::flop_rate, "FLOPs over time, if both are known",
        [](const RowContext& c, const Column&) {
          return number_cell(compute_rate(c.activity, Attribute::flops));
        },
        [](const GroupStatistics& g, Aggregate by) {
          return number_cell(g.flop_rate.aggregate(by));
        }),
    statistic_column(
        "bandwidth", "bandwidth", Quantity::byte_rate, "bytes over time, if both are known",
        [](const RowContext& c, const Column&) {
          return number_cell(compute_rate(c.activity, Attribute::bytes));
        },
        [](const GroupStatistics& g, Aggregate by) {
          return number_cell(g.byte_rate.aggregate(by));
        }),
    statistic_column(
        "intensity", "FLOP/byte", Quantity::ratio, "FLOPs over bytes, if both are known",
        [](const RowContext& c, const Column&) {
          return number_cell(compute_intensity(c.activity));
        },
        [](const GroupStatistics& g, Aggregate by) {
          return number_cell(g.intensity.aggregate(by));
        }),
    with_ceilings(statistic_column(
        "ideal_ns", "ideal", Quantity::time,
        "shortest time that the machine's ceilings permit; for a group: according to --aggregate",
        ideal_cell,
        [](const GroupStatistics& g, Aggregate by) { return time_cell(g.ideals.aggregate(by)); })),
    with_ceilings(statistic_column("efficiency", "% peak", Quantity::share,
                                   "ideal time over time, if both are known", efficiency_cell,
                                   [](const GroupStatistics& g, Aggregate by) {
                                     return number_cell(g.efficiency.aggregate(by));
                                   })),
    with_ceilings(text_column("bound",
                              "what limits the ideal time: compute, memory, cache, launch; n/a for "
                              "a group of different ones",
                              bound_cell)),
    statistic_column("value_min", "min", Quantity::none, "smallest value of a group of counters",
                     value_cell,
                     [](const GroupStatistics& g, Aggregate) { return number_cell(g.values.min); }),
    statistic_column("value_max", "max", Quantity::none, "largest value of a group of counters",
                     value_cell,
                     [](const GroupStatistics& g, Aggregate) { return number_cell(g.values.max); }),
    statistic_column("value_last", "last", Quantity::none, "last value of a group of counters",
                     value_cell,
                     [](const GroupStatistics& g, Aggregate) { return number_cell(g.last_value); }),
    statistic_column(
        "flags", "flags", Quantity::none,
        "above a peak, work unknown, unfinished, file gives other work",
        [](const RowContext& c, const Column&) { return text_cell(format_flags(c)); }, group_flags),
    position_column(Position::bar, "bar", "bar", Quantity::none, "time as a bar"),
};

// Heading and quantity of an attribute's column.
Column make_attribute_column(const AttributeInfo& row) {
  Column column;
  column.name = column.heading = row.name;
  column.help = row.help;
  column.attribute = row.attribute;
  column.of_activity = attribute_cell;
  column.numeric = row.type != AttributeType::text;
  column.merge = row.unit.empty() ? Merge::equal : Merge::aggregate;
  if (row.unit == "B") column.quantity = Quantity::byte;
  if (row.unit == "FLOP" || row.unit == "MAC") column.quantity = Quantity::flop;
  if (row.unit == "ns") column.quantity = Quantity::time;
  if (row.attribute == Attribute::flops) column.heading = "FLOPs";
  return column;
}

std::vector<Column> make_columns() {
  std::vector<Column> all(kOwnColumns.begin(), kOwnColumns.end());
  for (Column& column : all) {
    // the absence of flags is not an unknown value
    if (column.of_group == group_flags) column.absent = "";
  }
  for (const AttributeInfo& row : attributes()) all.push_back(make_attribute_column(row));
  return all;
}

struct Alias {
  std::string_view name;
  std::string_view column;
};
constexpr std::array<Alias, 18> kAliases = {{
    // PyProf
    {"idx", "index"},
    {"seq", "sequence"},
    {"altseq", "alternate_sequence"},
    {"dir", "direction"},
    {"mod", "module"},
    {"kernel", "name"},
    {"params", "parameters"},
    {"sil", "time_ns"},
    {"tc", "tensor_cores"},
    // profile_analyze
    {"time", "time_ns"},
    {"cumulative", "cumulative_ns"},
    {"computation", "flops"},
    {"memory", "bytes"},
    {"self", "self_ns"},
    // Names used in the result file
    {"scope", "layer"},
    {"id", "case"},
    {"duration_ns", "time_ns"},
    {"bytes_per_s", "bandwidth"},
}};

}  // namespace

std::span<const Column> columns() {
  static const std::vector<Column> kColumns = make_columns();
  return kColumns;
}

Result<const Column*> find_column(std::string_view name) {
  std::vector<std::string_view> names;
  const auto alias = std::find_if(kAliases.begin(), kAliases.end(),
                                  [&](const Alias& row) { return row.name == name; });
  const std::string_view wanted = alias == kAliases.end() ? name : alias->column;
  for (const Column& column : columns()) {
    if (column.name == wanted) return &column;
    names.push_back(column.name);
  }
  const auto near = nearest_name(name, names);
  return Error{fmt::format("unknown column {}", quote(name)), "",
               fmt::format("{}`bench analyze --help` shows the usual columns, docs/analyze.md all",
                           near ? fmt::format("did you mean `{}`? ", *near) : "")};
}

std::string device_name(const Activity& activity) {
  // A primitive's engine says what the library calls the device: "gpu" may be of any vendor.
  const std::string_view engine = activity.attributes.text(Attribute::engine);
  if (activity.track.device) {
    return fmt::format("{}:{}", engine.starts_with("gpu") ? "gpu" : "cuda", *activity.track.device);
  }
  const bool on_gpu = activity.kind == ActivityKind::kernel ||
                      activity.kind == ActivityKind::memcpy ||
                      activity.kind == ActivityKind::memset;
  if (on_gpu) return "cuda";
  return engine.empty() ? "cpu" : std::string(engine);
}

std::string_view operation_type(const Activity& activity) {
  const std::string_view primitive = activity.attributes.text(Attribute::primitive);
  if (!primitive.empty()) return primitive;
  const std::string_view op = activity.attributes.text(Attribute::op);
  return op.empty() ? std::string_view(activity.name) : op;
}

bool has_flag(const RowContext& context, RowFlag flag) {
  const Activity& activity = context.activity;
  const Peaks& peaks = context.peaks;
  switch (flag) {
    case RowFlag::work_unknown:
      return does_work(activity) && activity.attributes.find(Attribute::flops) == nullptr &&
             activity.attributes.find(Attribute::bytes) == nullptr;
    case RowFlag::above_peak_bandwidth:
      return peaks.bandwidth && compute_rate(activity, Attribute::bytes) > peaks.bandwidth->value;
    case RowFlag::above_peak_flops:
      return peaks.flops && compute_rate(activity, Attribute::flops) > peaks.flops->value;
    case RowFlag::unfinished:
      return activity.attributes.find(Attribute::unfinished) != nullptr;
    case RowFlag::other_work_given:
      return activity.attributes.find(Attribute::given_flops) != nullptr ||
             activity.attributes.find(Attribute::given_bytes) != nullptr;
  }
  return false;
}

}  // namespace bench::analysis
