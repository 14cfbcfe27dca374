// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/collector.hpp"

#include "base/text.hpp"
#include "profiler/analysis/saturating.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace bench::analysis {
namespace {

constexpr std::size_t kMaxFlagLines = 20;  // number of lines named in the note below a table

// About 1 kB each. Limits the memory of a table to about 250 MB.
constexpr std::size_t kMaxGroups = 200'000;

class ActivityCollector final : public Collector {
 public:
  ActivityCollector(const QueryPlan& plan, const std::string& folder) : Collector(plan, folder) {}

  Status add(const RowContext& context) override {
    count(context);
    count_row(context.activity.duration);
    const std::int64_t sequence = next_sequence_++;
    Cell key = plan_.order->of_activity(context, *plan_.order);
    if (!rows_.wants(key)) return Done{};
    Row row{{}, std::move(key), sequence, context.activity.duration};
    row.cells.reserve(plan_.columns.size());
    for (const Column* column : plan_.columns) {
      row.cells.push_back(column->of_activity != nullptr ? column->of_activity(context, *column)
                                                         : Cell());
    }
    return store(std::move(row));
  }
  Status finish() override { return rows_.finish(); }
};

// The merged values of one column in a group.
struct Merged {
  Cell value;  // Merge::equal
  bool conflicting = false;
  NumberStatistics numbers;  // Merge::aggregate

  void add(const Column& column, const RowContext& context, std::int64_t count) {
    Cell cell = column.of_activity(context, column);
    if (column.merge == Merge::aggregate) {
      if (const auto* whole = std::get_if<std::int64_t>(&cell)) numbers.add(*whole);
      if (const auto* real = std::get_if<double>(&cell)) numbers.add(*real);
    } else if (count == 0) {
      value = std::move(cell);
    } else if (!conflicting) {
      conflicting = cell != value;
    }
  }

  Cell result(const Column& column, Aggregate by) const {
    if (column.merge == Merge::equal) return conflicting ? Cell() : value;
    const auto number = numbers.aggregate(by);
    if (!number) return {};
    if (by == Aggregate::mean || numbers.whole_count < numbers.count) return *number;
    if (by == Aggregate::sum) return numbers.whole_sum;
    return by == Aggregate::max ? *numbers.whole_max : *numbers.whole_min;
  }
};

struct Group {
  std::vector<Cell> key;  // in the order of the plan's group_by
  std::int64_t sequence = 0;
  GroupStatistics statistics;
  std::vector<Merged> merged;
};

class GroupCollector final : public Collector {
 public:
  GroupCollector(const QueryPlan& plan, const std::string& folder) : Collector(plan, folder) {
    for (const Column* column : plan.columns) {
      find_merged(column);
      needs_typical_ = needs_typical_ || column->name == kTypicalColumn;
    }
    find_merged(plan.order);
    needs_typical_ = needs_typical_ || plan.order->name == kTypicalColumn;
  }

  Status add(const RowContext& context) override {
    count(context);
    std::vector<Cell> key;
    for (const Column* column : plan_.group_by)
      key.push_back(column->of_activity(context, *column));
    BENCH_ASSIGN_OR_RETURN(Group* const group, find_or_add_group(std::move(key)));
    for (std::size_t i = 0; i < merged_columns_.size(); ++i) {
      group->merged[i].add(*merged_columns_[i], context, group->statistics.count);
    }
    add_statistics(context, group->statistics);
    if (needs_typical_) add_call(context.activity, *group);
    return Done{};
  }

  Status finish() override {
    for (const auto& [key, call] : calls_) {
      auto& typical = call.group->statistics.typical;
      const Nanoseconds own(
          saturating_product(call.times.quantile(0.5)->count(), call.times.count()));
      typical = saturating_sum(typical.value_or(Nanoseconds(0)), own);
    }
    std::vector<const Group*> order;
    order.reserve(groups_.size());
    for (auto& [key, group] : groups_) {
      // A median above the mean, as of three calls with one short, would exceed the sum.
      auto& typical = group.statistics.typical;
      if (typical) typical = std::min(*typical, group.statistics.times.total());
      order.push_back(&group);
    }
    std::sort(order.begin(), order.end(),
              [](const Group* a, const Group* b) { return a->sequence < b->sequence; });
    for (const Group* group : order) {
      Row row = make_row(*group);
      count_row(row.time);
      if (group->statistics.typical) count_leader(*group);
      BENCH_RETURN_IF_ERROR(store(std::move(row)));
    }
    return rows_.finish();
  }

 private:
  void find_merged(const Column* column) {
    const bool merges = column->merge == Merge::equal || column->merge == Merge::aggregate;
    if (!merges || is_key(plan_, column)) return;
    if (std::find(merged_columns_.begin(), merged_columns_.end(), column) == merged_columns_.end())
      merged_columns_.push_back(column);
  }

  // Durations of different calls must not share a median: it would be that of the most frequent
  // one.
  void add_call(const Activity& activity, Group& group) {
    if (!activity.duration) return;
    // Without parameters and shapes, as a reorder into a layout of weights, the library's own
    // words say what a call does.
    constexpr std::array kDistinct = {Attribute::parameters, Attribute::in_shapes,
                                      Attribute::problem, Attribute::memory_descriptors,
                                      Attribute::grid};
    call_text_ = fmt::format("{}", group.sequence);
    const auto append = [&](std::string_view part) {
      fmt::format_to(std::back_inserter(call_text_), "|{}:{}", part.size(), part);
    };
    append(activity.name);
    append(activity.case_id);
    append(activity.scope);
    append(activity.direction);
    for (const Attribute attribute : kDistinct) append(activity.attributes.text(attribute));
    if (const auto size = activity.attributes.integer(Attribute::size_bytes))
      append(fmt::format_int(*size).str());
    // Beyond the limit of memory, the calls of a group share a median.
    if (calls_.size() >= kMaxGroups && !calls_.contains(call_text_))
      call_text_ = fmt::format("{}", group.sequence);
    Call& call = calls_[call_text_];
    call.group = &group;
    call.times.add(*activity.duration);
  }

  void count_leader(const Group& group) {
    const Nanoseconds typical = *group.statistics.typical, sum = group.statistics.times.total();
    totals_.typical = saturating_sum(totals_.typical, typical);
    const bool leads_typical = !totals_.by_typical || typical > totals_.by_typical->typical;
    const bool leads_sum = !totals_.by_sum || sum > totals_.by_sum->sum;
    if (!leads_typical && !leads_sum) return;
    std::string name;
    for (std::size_t i = 0; i < group.key.size(); ++i) {
      const Column& column = *plan_.group_by[i];
      name += (name.empty() ? "" : " ") + (is_known(group.key[i])
                                               ? readable(group.key[i], column.quantity)
                                               : std::string(column.absent));
    }
    const LeadingGroup leader{std::move(name), typical, sum};
    if (leads_typical) totals_.by_typical = leader;
    if (leads_sum) totals_.by_sum = leader;
  }

  // The type index keeps texts, numbers and unknown apart, the length keeps neighbours apart.
  void append_key(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    const std::string value = text != nullptr ? *text : raw(cell);
    fmt::format_to(std::back_inserter(key_text_), "{}{}:{}", cell.index(), value.size(), value);
  }

  Result<Group*> find_or_add_group(std::vector<Cell> key) {
    key_text_.clear();
    for (const Cell& cell : key) append_key(cell);
    const auto found = groups_.find(key_text_);
    if (found != groups_.end()) return &found->second;
    if (groups_.size() == kMaxGroups) {
      return Error{fmt::format("more than {} different values of `{}`", kMaxGroups, group_names()),
                   "--aggregate-by", "filter, or group by something coarser"};
    }
    Group& group = groups_[key_text_];
    group.key = std::move(key);
    group.sequence = next_sequence_++;
    group.merged.resize(merged_columns_.size());
    return &group;
  }

  std::string group_names() const {
    std::vector<std::string_view> names;
    for (const Column* column : plan_.group_by) names.push_back(column->name);
    return fmt::format("{}", fmt::join(names, ","));
  }

  static void add_statistics(const RowContext& context, GroupStatistics& group) {
    ++group.count;
    const Activity& activity = context.activity;
    for (std::size_t i = 0; i < kRowFlagCount; ++i) {
      group.flags[i] += has_flag(context, static_cast<RowFlag>(i)) ? 1 : 0;
    }
    if (context.self) {
      group.self = saturating_sum(group.self.value_or(Nanoseconds(0)), *context.self);
    }
    const auto flops = activity.attributes.integer(Attribute::flops);
    const auto bytes = activity.attributes.integer(Attribute::bytes);
    if (flops && bytes) {
      group.intensity.add(static_cast<double>(*flops), static_cast<double>(*bytes));
    }
    if (context.ideal) group.ideals.add(context.ideal->time);
    if (const auto value = activity.attributes.real(Attribute::value)) {
      group.values.add(*value);
      group.last_value = value;
    }
    if (!activity.duration) return;
    group.times.add(*activity.duration);
    const auto time = static_cast<double>(activity.duration->count());
    if (flops) group.flop_rate.add(static_cast<double>(*flops), time);
    if (bytes) group.byte_rate.add(static_cast<double>(*bytes), time);
    if (context.ideal) {
      group.efficiency.add(static_cast<double>(context.ideal->time.count()), time);
    }
  }

  Cell group_value(const Group& group, const Column& column) const {
    const auto key = std::ranges::find(plan_.group_by, &column);
    if (key != plan_.group_by.end()) {
      return group.key[static_cast<std::size_t>(key - plan_.group_by.begin())];
    }
    if (column.merge == Merge::statistic) {
      return column.of_group(group.statistics, *plan_.aggregate);
    }
    const auto found = std::find(merged_columns_.begin(), merged_columns_.end(), &column);
    if (found == merged_columns_.end()) return {};
    return group.merged[static_cast<std::size_t>(found - merged_columns_.begin())].result(
        column, *plan_.aggregate);
  }

  Row make_row(const Group& group) const {
    Row row{{},
            group_value(group, *plan_.order),
            group.sequence,
            group.statistics.times.aggregate(Aggregate::sum)};
    row.cells.reserve(plan_.columns.size());
    for (const Column* column : plan_.columns) row.cells.push_back(group_value(group, *column));
    return row;
  }

  std::vector<const Column*> merged_columns_;
  std::unordered_map<std::string, Group> groups_;
  std::string key_text_;
  struct Call {
    Group* group = nullptr;
    TimeStatistics times;
  };
  bool needs_typical_ = false;
  std::unordered_map<std::string, Call> calls_;
  std::string call_text_;
};

// Returns the index of the column whose values the column `name` may repeat, or -1.
std::ptrdiff_t repeated_column(const std::vector<const Column*>& columns, std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRepeats = {
      {{"name", "type"}, {"self_ns", "time_ns"}, {kTypicalColumn, "time_ns"}}};
  for (const auto& [repeats, original] : kRepeats) {
    if (repeats != name) continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i]->name == original) return static_cast<std::ptrdiff_t>(i);
    }
  }
  return -1;
}

}  // namespace

Collector::Collector(const QueryPlan& plan, const std::string& folder)
    : plan_(plan), rows_(plan.top, plan.direction, folder), facts_(plan.columns.size()) {
  for (const Column* column : plan.columns)
    repeated_.push_back(repeated_column(plan.columns, column->name));
}

void Collector::count(const RowContext& context) {
  ++totals_.selected;
  const auto& duration = context.activity.duration;
  if (duration) {
    totals_.time = saturating_sum(totals_.time, *duration);
  } else {
    ++totals_.unknown_times;
  }
  for (std::size_t i = 0; i < kRowFlagCount; ++i) {
    if (!has_flag(context, static_cast<RowFlag>(i))) continue;
    ++totals_.flags[i];
    const auto line = context.activity.attributes.integer(Attribute::line);
    auto& lines = totals_.flag_lines[i];
    if (line && lines.size() < kMaxFlagLines) lines.push_back(*line);
  }
}

void Collector::count_row(std::optional<Nanoseconds> time) {
  ++totals_.rows;
  totals_.longest = std::max(totals_.longest, time.value_or(Nanoseconds(0)));
}

Status Collector::store(Row row) {
  for (std::size_t i = 0; i < facts_.size(); ++i) {
    ColumnFacts& facts = facts_[i];
    const Cell& cell = row.cells[i];
    const std::ptrdiff_t repeats = repeated_[i];
    if (repeats < 0 || cell != row.cells[static_cast<std::size_t>(repeats)]) facts.differs = true;
    facts.varies = facts.varies || (facts.known && cell != facts.first);
    const bool has_text_width = plan_.columns[i]->quantity == Quantity::none;
    if (!is_known(cell)) {
      if (has_text_width) facts.width = std::max(facts.width, plan_.columns[i]->absent.size());
      continue;
    }
    if (!facts.known) facts.first = cell;
    facts.known = true;
    if (has_text_width) {
      facts.width = std::max(facts.width, display_width(readable(cell, Quantity::none)));
    }
  }
  return rows_.add(std::move(row));
}

std::unique_ptr<Collector> make_collector(const QueryPlan& plan, const std::string& folder) {
  if (plan.aggregate) return std::make_unique<GroupCollector>(plan, folder);
  return std::make_unique<ActivityCollector>(plan, folder);
}

}  // namespace bench::analysis
