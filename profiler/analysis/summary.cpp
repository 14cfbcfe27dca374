// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/summary.hpp"

#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/group.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/analysis/self_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bench {
namespace {

using analysis::NumberStatistics;
using analysis::TimeStatistics;

// Times of one name.
struct Times {
  TimeStatistics durations;
  std::int64_t unfinished = 0;
  std::int64_t instants = 0;
  std::optional<Nanoseconds> self;
  Nanoseconds own{0};  // without what nests in it and stands in the same table

  void add(const Activity& activity, std::optional<Nanoseconds> without_nested) {
    if (activity.duration) {
      durations.add(*activity.duration);
    } else {
      ++(activity.kind == ActivityKind::marker ? instants : unfinished);
    }
    if (without_nested) {
      self = saturating_sum(self.value_or(Nanoseconds(0)), *without_nested);
    }
  }
};
using TimesByName = std::map<std::string, Times>;

struct CounterState {
  std::string unit;
  NumberStatistics values;
  double weighted = 0;  // sum of value times nanoseconds
  double held = 0;      // nanoseconds
  double last = 0;
  Nanoseconds last_time{0};

  void hold_until(Nanoseconds time) {
    const auto span = static_cast<double>((time - last_time).count());
    if (values.count == 0 || span <= 0) return;
    weighted += last * span;
    held += span;
  }

  void add(const Activity& activity, double value) {
    hold_until(activity.start);
    values.add(value);
    last = value;
    last_time = std::max(activity.start, last_time);
    unit = activity.attributes.text(Attribute::value_unit);
  }
};

enum class Role { other, host_operator, work, creation };

Role role_of(const Activity& activity) {
  switch (activity.kind) {
    case ActivityKind::operation:
      return Role::host_operator;
    case ActivityKind::kernel:
    case ActivityKind::memcpy:
    case ActivityKind::memset:
      return Role::work;
    case ActivityKind::primitive:
      break;
    case ActivityKind::allocation:
    case ActivityKind::synchronisation:
    case ActivityKind::api:
    case ActivityKind::overhead:
    case ActivityKind::range:
    case ActivityKind::marker:
    case ActivityKind::counter:
      return Role::other;
  }
  const std::string_view phase = activity.attributes.text(Attribute::phase);
  if (phase.empty() || phase == "exec") return Role::work;
  return phase.starts_with("create") && activity.duration ? Role::creation : Role::other;
}

// Empty: in no table of times.
std::string_view category_of(const Activity& activity) {
  const std::string_view domain = activity.attributes.text(Attribute::domain);
  if (!domain.empty()) return domain;
  switch (activity.kind) {
    case ActivityKind::operation:
      return "operator";
    case ActivityKind::primitive:
      if (role_of(activity) == Role::work) return "primitive";
      return role_of(activity) == Role::creation ? "creation" : "";
    case ActivityKind::kernel:
    case ActivityKind::memcpy:
    case ActivityKind::memset:
    case ActivityKind::synchronisation:
    case ActivityKind::overhead:
      return "device";
    case ActivityKind::api:
      return "api";
    case ActivityKind::range:
      return "range";
    case ActivityKind::marker:
      return "marker";
    case ActivityKind::allocation:
    case ActivityKind::counter:
      break;
  }
  return "";
}

std::string layer_of(const Activity& activity) {
  if (!activity.scope.empty()) return activity.scope;
  return activity.case_id.empty() ? "(no layer)" : activity.case_id;
}

TimeRow row_of(const std::string& name, const Times& times) {
  TimeRow row;
  row.name = name;
  row.count = times.durations.count() + times.unfinished + times.instants;
  row.unfinished = times.unfinished;
  row.total = times.durations.total();
  row.self = times.self;
  row.min = times.durations.min();
  row.max = times.durations.max();
  row.mean = times.durations.mean();
  row.p50 = times.durations.quantile(0.50);
  row.p95 = times.durations.quantile(0.95);
  return row;
}

template <class T>
std::optional<double> as_number(const std::optional<T>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}
std::optional<double> as_number(const std::optional<Nanoseconds>& time) {
  return time ? std::optional(static_cast<double>(time->count())) : std::nullopt;
}

using SortValues = std::array<std::optional<double>, 5>;  // in the order of SummarySort

SortValues sort_values(const TimeRow& row) {
  return {static_cast<double>(row.total.count()), as_number(row.mean), as_number(row.min),
          as_number(row.max), static_cast<double>(row.count)};
}
SortValues sort_values(const MemoryRow& row) {
  return {static_cast<double>(row.total_bytes), row.mean_bytes, as_number(row.min_bytes),
          as_number(row.max_bytes), static_cast<double>(row.count)};
}
// Values of counters have no sum.
SortValues sort_values(const CounterRow& row) {
  return {row.max, row.mean, row.min, row.max, static_cast<double>(row.count)};
}

// Unknown last in both orders, equal ones by name.
template <class Table>
void sort_rows(std::vector<Table>& rows, const SummaryOptions& options) {
  const auto key = static_cast<std::size_t>(options.sort);
  std::sort(rows.begin(), rows.end(), [&](const Table& a, const Table& b) {
    const auto x = sort_values(a)[key];
    const auto y = sort_values(b)[key];
    if (x.has_value() != y.has_value()) return x.has_value();
    if (x == y) return a.name < b.name;
    return options.order == SortOrder::descending ? *x > *y : *x < *y;
  });
}

template <class Table>
void cut(std::vector<Table>& rows, const SummaryOptions& options) {
  if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
}

std::vector<TimeRow> table_of(const TimesByName& times, const SummaryOptions& options) {
  std::vector<TimeRow> rows;
  rows.reserve(times.size());
  for (const auto& [name, row] : times) rows.push_back(row_of(name, row));
  sort_rows(rows, options);
  const auto own = [&](const TimeRow& row) { return times.at(row.name).own; };
  Nanoseconds sum{0};
  for (const TimeRow& row : rows) sum = saturating_sum(sum, own(row));
  Nanoseconds cumulative{0};
  for (TimeRow& row : rows) {
    if (sum.count() == 0) break;
    cumulative = saturating_sum(cumulative, own(row));
    row.share = static_cast<double>(own(row).count()) / static_cast<double>(sum.count());
    row.cumulative_share =
        static_cast<double>(cumulative.count()) / static_cast<double>(sum.count());
  }
  cut(rows, options);
  return rows;
}

}  // namespace

struct Summary::State final : public ActivitySink {
  State()
      : self_times([this](const Activity& activity, std::optional<Nanoseconds> self) {
          add(activity, self);
          return Status(Done{});
        }),
        announcements(*this) {}

  Status take(const Activity& activity) override {
    const std::string category(category_of(activity));
    if (!category.empty()) BENCH_RETURN_IF_ERROR(nesting(category).take(activity));
    return self_times.take(activity);
  }

  // Of one category, whose rows must not count twice what nests in another of them: a layer's time
  // is that of its primitive too, but not that of the layers in it.
  SelfTimes& nesting(const std::string& category) {
    auto found = own_times.find(category);
    if (found == own_times.end()) {
      const auto take = [this, category](const Activity& activity,
                                         std::optional<Nanoseconds> self) {
        add_own(category, activity, self.value_or(activity.duration.value_or(Nanoseconds(0))));
        return Status(Done{});
      };
      found = own_times.try_emplace(category, take).first;
    }
    return found->second;
  }

  void add_own(const std::string& category, const Activity& activity, Nanoseconds own) {
    const auto add = [&](TimesByName& table, const std::string& name) {
      Times& times = table[name];
      times.own = saturating_sum(times.own, own);
    };
    add(categories[category], activity.name);
    const Role role = role_of(activity);
    if (role != Role::host_operator && role != Role::work) return;
    const bool host = role == Role::host_operator;
    add(host ? host_layers : work_layers, layer_of(activity));
    add(host ? host_operators : work_operators, std::string(analysis::type_of(activity)));
  }

  // What still waited for an end is in the tables from now on.
  void flush() {
    if (!pending) return;
    pending = false;
    // They hand on to add() and add_own(), which take everything.
    static_cast<void>(announcements.finish());
    static_cast<void>(self_times.finish());
    for (auto& [category, times] : own_times) static_cast<void>(times.finish());
  }

  void add(const Activity& activity, std::optional<Nanoseconds> self) {
    last_time = std::max(last_time, activity.start + activity.duration.value_or(Nanoseconds(0)));
    if (activity.kind == ActivityKind::counter) return add_counter(activity);
    if (activity.kind == ActivityKind::allocation) return add_allocation(activity);
    const std::string_view category = category_of(activity);
    if (!category.empty()) categories[std::string(category)][activity.name].add(activity, self);
    attribute(activity, self);
    const Role role = role_of(activity);
    if (role == Role::host_operator) {
      host_layers[layer_of(activity)].add(activity, self);
      host_operators[std::string(analysis::type_of(activity))].add(activity, self);
    } else if (role == Role::work) {
      work_layers[layer_of(activity)].add(activity, self);
      work_operators[std::string(analysis::type_of(activity))].add(activity, self);
    }
  }

  void attribute(const Activity& activity, std::optional<Nanoseconds> self) {
    if (!self || activity.track.device) return;
    const bool iteration = activity.kind == ActivityKind::range &&
                           activity.attributes.find(Attribute::iteration) != nullptr;
    if (iteration) {
      iterations.wall = saturating_sum(iterations.wall, *activity.duration);
      iterations.unattributed = saturating_sum(iterations.unattributed, *self);
      has_iterations = true;
    }
    const Role role = role_of(activity);
    const bool owned = role == Role::work || role == Role::host_operator ||
                       (!iteration && !activity.scope.empty());
    everything.wall = saturating_sum(everything.wall, *self);
    if (!owned) everything.unattributed = saturating_sum(everything.unattributed, *self);
  }

  void add_counter(const Activity& activity) {
    const auto value = activity.attributes.real(Attribute::value);
    if (value) counters[{activity.name, activity.track.pid}].add(activity, *value);
  }

  void add_allocation(const Activity& activity) {
    const auto size = activity.attributes.integer(Attribute::size_bytes);
    const std::string_view role = activity.attributes.text(Attribute::role);
    if (size) {
      memory[role.empty() ? activity.name : std::string(role)].add(*size);
    }
  }

  SelfTimes self_times;
  std::map<std::string, SelfTimes> own_times;  // by category
  Announcements announcements;
  bool pending = false;
  bool has_iterations = false;
  Nanoseconds last_time{0};
  Attribution iterations, everything;
  TimesByName host_layers, work_layers, host_operators, work_operators;
  std::map<std::string, TimesByName> categories;
  std::map<std::pair<std::string, std::int64_t>, CounterState> counters;
  std::map<std::string, NumberStatistics> memory;
};

Summary::Summary() : state_(std::make_unique<State>()) {}
Summary::~Summary() = default;
Summary::Summary(Summary&&) noexcept = default;
Summary& Summary::operator=(Summary&&) noexcept = default;

Status Summary::take(const Activity& activity) {
  state_->pending = true;
  return state_->announcements.take(activity);
}

void Summary::reset() { state_ = std::make_unique<State>(); }

bool Summary::empty() const {
  state_->flush();
  return state_->categories.empty() && state_->counters.empty() && state_->memory.empty();
}

Attribution Summary::attribution() const {
  state_->flush();
  Attribution result = state_->has_iterations ? state_->iterations : state_->everything;
  result.attributed = result.wall - result.unattributed;
  return result;
}

std::vector<TimeRow> Summary::layers(const SummaryOptions& options) const {
  state_->flush();
  TimesByName merged = state_->host_layers;
  for (const auto& [name, times] : state_->work_layers) merged.try_emplace(name, times);
  return table_of(merged, options);
}

std::vector<TimeRow> Summary::operators(const SummaryOptions& options) const {
  state_->flush();
  return table_of(state_->work_operators.empty() ? state_->host_operators : state_->work_operators,
                  options);
}

std::map<std::string, std::vector<TimeRow>> Summary::categories(
    const SummaryOptions& options) const {
  state_->flush();
  std::map<std::string, std::vector<TimeRow>> tables;
  for (const auto& [name, times] : state_->categories) tables[name] = table_of(times, options);
  return tables;
}

std::vector<MemoryRow> Summary::memory(const SummaryOptions& options) const {
  state_->flush();
  std::vector<MemoryRow> rows;
  for (const auto& [name, sizes] : state_->memory) {
    rows.push_back({name, sizes.count, sizes.whole_sum, sizes.whole_min, sizes.whole_max,
                    sizes.aggregate(Aggregate::mean)});
  }
  sort_rows(rows, options);
  cut(rows, options);
  return rows;
}

std::vector<CounterRow> Summary::counters(const SummaryOptions& options) const {
  state_->flush();
  std::vector<CounterRow> rows;
  const auto& counters = state_->counters;
  for (auto it = counters.begin(); it != counters.end(); ++it) {
    const auto& name = it->first.first;
    const bool shared = (it != counters.begin() && std::prev(it)->first.first == name) ||
                        (std::next(it) != counters.end() && std::next(it)->first.first == name);
    CounterState counter = it->second;
    counter.hold_until(state_->last_time);
    CounterRow row;
    row.name = shared ? fmt::format("{} (process {})", name, it->first.second) : name;
    row.unit = counter.unit;
    row.count = counter.values.count;
    row.min = counter.values.min;
    row.max = counter.values.max;
    row.mean = counter.held > 0 ? counter.weighted / counter.held
                                : counter.values.aggregate(Aggregate::mean);
    row.last = counter.last;
    rows.push_back(std::move(row));
  }
  sort_rows(rows, options);
  cut(rows, options);
  return rows;
}

}  // namespace bench
