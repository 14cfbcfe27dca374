// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/summary.hpp"

#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/bounded_names.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/group.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/analysis/self_time.hpp"
#include "profiler/scope_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace bench {
namespace {

using analysis::Level;
using analysis::NumberStatistics;
using analysis::TimeStatistics;

// Times of the activities with one name.
struct Times {
  TimeStatistics durations;
  std::int64_t unfinished = 0;
  std::int64_t instants = 0;
  std::optional<Nanoseconds> self;
  Nanoseconds own{0};  // without nested activities of the same table

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

Role classify_role(const Activity& activity) {
  const Level level = analysis::facts_of(activity.kind).level;
  if (level == Level::operation) return Role::host_operator;
  if (level != Level::work) return Role::other;
  if (is_executed(activity)) return Role::work;
  const std::string_view phase = activity.attributes.text(Attribute::phase);
  return phase.starts_with("create") && activity.duration ? Role::creation : Role::other;
}

// Returns an empty text if the activity is in no table of times.
std::string_view find_category(const Activity& activity) {
  const std::string_view domain = activity.attributes.text(Attribute::domain);
  if (!domain.empty()) return domain;
  if (is_executed(activity)) return analysis::facts_of(activity.kind).category;
  return classify_role(activity) == Role::creation ? "creation" : "";
}

// Rows for time outside any name: not explained by a layer, a primitive or an operator.
constexpr const char* kUnattributed = "(unattributed)";
constexpr const char* kOutside = "(outside)";  // nothing was recorded
constexpr const char* kNoPrimitive = "(outside primitives)";
constexpr const char* kNoOperator = "(no operator)";

std::string layer_name(const Activity& activity) {
  if (!activity.scope.empty()) return activity.scope;
  return activity.case_id.empty() ? "(no layer)" : activity.case_id;
}

TimeRow make_time_row(const std::string& name, const Times& times) {
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

// Sorts unknown values last in both orders, and equal values by name.
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

// Returns whether this is the range that opens its layer: its scope ends in its name.
bool opens_layer(const Activity& activity) {
  if (activity.kind != ActivityKind::range || activity.scope.empty()) return false;
  const std::string last = append_scope("", activity.name);
  const std::string_view scope = activity.scope;
  if (!scope.ends_with(last)) return false;
  const std::string_view above = scope.substr(0, scope.size() - last.size());
  return above.empty() || above.ends_with(':');
}

bool is_iteration(const Activity& activity) {
  return activity.kind == ActivityKind::range &&
         activity.attributes.find(Attribute::iteration) != nullptr;
}

using analysis::divide_wall;
using analysis::Durations;
using analysis::sum_durations;

void add_time(Durations& durations, const std::string& name, Nanoseconds time) {
  Nanoseconds& sum = durations[name];
  sum = saturating_sum(sum, time);
}

Nanoseconds find_time(const Durations& durations, const std::string& name) {
  const auto found = durations.find(name);
  return found == durations.end() ? Nanoseconds(0) : found->second;
}

// Divides the time of one part of the profile. Each nanosecond is in one layer, and in one operator
// or in none.
struct Breakdown {
  enum class Extent { everything, iterations };

  Extent extent = Extent::everything;
  Nanoseconds wall{0};
  Nanoseconds unattributed{0};
  Durations layers = {};          // including kUnattributed
  Durations outside = {};         // by layer: time outside primitives
  Durations work = {};            // by operator: time of what was executed
  Durations host_operators = {};  // by operator
  // The same times, with those of several threads at once counted once.
  analysis::IntervalUnion occupied = {}, worked = {}, operated = {};

  void add(const Activity& activity, Nanoseconds self) {
    const Role role = classify_role(activity);
    const Nanoseconds end = activity.start + *activity.duration;
    occupied.add(activity.start, end);
    if (role == Role::work) worked.add(activity.start, end);
    // Within an iteration, everything except the gaps belongs to a case. Elsewhere, only activities
    // that state their owner do.
    const bool is_owned =
        !is_iteration(activity) && (extent == Extent::iterations || role == Role::work ||
                                    role == Role::host_operator || !activity.scope.empty());
    const std::string layer = is_owned ? layer_name(activity) : kUnattributed;
    wall = saturating_sum(wall, self);
    if (!is_owned) unattributed = saturating_sum(unattributed, self);
    add_time(layers, layer, self);
    if (role == Role::work) {
      add_time(work, std::string(analysis::operation_type(activity)), self);
    } else {
      add_time(outside, layer, self);
    }
  }
};

void add_times(Durations& durations, const Durations& more) {
  for (const auto& [name, time] : more) add_time(durations, name, time);
}

// What the tables of layers and operators show: times of threads, and shares of the wall time.
struct Division {
  Nanoseconds wall{0};
  Nanoseconds unattributed{0}, outside{0};               // parts of the wall time
  Durations layers, outside_work;                        // times of threads
  Durations layer_shares, work_shares, operator_shares;  // parts of the wall time
  bool is_concurrent = false;

  void add(const Breakdown& part, Nanoseconds part_wall) {
    const Durations divided = divide_wall(part.layers, part.occupied.total());
    is_concurrent = is_concurrent || sum_durations(part.layers) > part.occupied.total();
    add_times(layers, part.layers);
    add_times(outside_work, part.outside);
    add_times(layer_shares, divided);
    add_times(work_shares, divide_wall(part.work, part.worked.total()));
    add_times(operator_shares, divide_wall(part.host_operators, part.operated.total()));
    wall = saturating_sum(wall, part_wall);
    unattributed = saturating_sum(unattributed, find_time(divided, kUnattributed));
    outside = saturating_sum(outside, std::max(Nanoseconds(0), part_wall - sum_durations(divided)));
  }
};

// Shares are fractions of `whole`. Rows are in the order of the options.
void add_shares(std::vector<TimeRow>& rows, const Durations& own, Nanoseconds whole) {
  if (whole.count() == 0) return;
  Nanoseconds cumulative{0};
  const auto share = [&](Nanoseconds time) {
    return static_cast<double>(time.count()) / static_cast<double>(whole.count());
  };
  for (TimeRow& row : rows) {
    const Nanoseconds time = find_time(own, row.name);
    cumulative = saturating_sum(cumulative, time);
    row.share = share(time);
    row.cumulative_share = share(cumulative);
  }
}

TimeRow remainder_row(const char* name, Nanoseconds time) {
  TimeRow row;
  row.name = name;
  row.total = time;
  row.self = time;
  return row;
}

template <class Table>
void cut(std::vector<Table>& rows, const SummaryOptions& options) {
  if (options.top > 0 && rows.size() > options.top) rows.resize(options.top);
}

std::vector<TimeRow> finish_table(std::vector<TimeRow> rows, const Durations& own,
                                  Nanoseconds whole, const SummaryOptions& options) {
  sort_rows(rows, options);
  add_shares(rows, own, whole);
  cut(rows, options);
  return rows;
}

// Builds a table whose rows add up to its total.
std::vector<TimeRow> make_time_table(const TimesByName& times, const SummaryOptions& options) {
  std::vector<TimeRow> rows;
  rows.reserve(times.size());
  Durations own;
  for (const auto& [name, row] : times) {
    rows.push_back(make_time_row(name, row));
    own.emplace(name, row.own);
  }
  return finish_table(std::move(rows), own, sum_durations(own), options);
}

// Returns the time of a layer, including the layers below it.
Nanoseconds time_within(const Durations& layers, const std::string& name) {
  Nanoseconds sum{0};
  for (auto found = layers.lower_bound(name);
       found != layers.end() && found->first.starts_with(name); ++found) {
    const bool is_below = found->first.size() == name.size() || found->first[name.size()] == ':';
    if (is_below) sum = saturating_sum(sum, found->second);
  }
  return sum;
}

// A layer defined by ranges. If its time is not only in the ranges that open it (for example in the
// backward pass), the statistics of single ranges are unknown.
TimeRow layer_of_ranges(const std::string& name, const Times* opening, const Division& division) {
  TimeRow row = opening == nullptr ? TimeRow() : make_time_row(name, *opening);
  const Nanoseconds total = time_within(division.layers, name);
  if (row.total != total) row.min = row.max = row.mean = row.p50 = row.p95 = std::nullopt;
  row.name = name;
  row.total = total;
  row.self = find_time(division.outside_work, name);
  return row;
}

const Times* find(const TimesByName& table, const std::string& name) {
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

template <class Map>
void add_names(const Map& map, std::set<std::string>& names) {
  for (const auto& [name, value] : map) names.insert(name);
}

// A table of operators that also includes the wall time outside operators.
std::vector<TimeRow> operator_table(const TimesByName& times, const Durations& own,
                                    const char* remainder, Nanoseconds wall,
                                    const SummaryOptions& options) {
  std::vector<TimeRow> rows;
  for (const auto& [name, row] : times) rows.push_back(make_time_row(name, row));
  Durations all = own;
  const Nanoseconds rest = wall - sum_durations(own);
  if (rest > Nanoseconds(0)) {
    rows.push_back(remainder_row(remainder, rest));
    all[remainder] = rest;
  }
  return finish_table(std::move(rows), all, wall, options);
}

}  // namespace

struct Summary::State final : public ActivitySink {
  State()
      : self_times([this](const Activity& activity, std::optional<Nanoseconds> self) {
          add(activity, self);
          return Status(Done{});
        }),
        announcements(*this) {}

  Status consume(const Activity& given) override {
    const Activity& activity = names.bound(given);
    BENCH_RETURN_IF_ERROR(coverage.consume(activity));
    BENCH_RETURN_IF_ERROR(samples.consume(activity));
    const std::string category(find_category(activity));
    if (!category.empty()) BENCH_RETURN_IF_ERROR(nesting(category).consume(activity));
    return self_times.consume(activity);
  }

  // Returns the self times of one category. Its rows must not count time twice if one is nested in
  // another. A layer's time includes its primitive but not its inner layers.
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
    const Role role = classify_role(activity);
    const std::string type(analysis::operation_type(activity));
    if (role == Role::host_operator) {
      for (Breakdown* part : find_parts(activity)) {
        add_time(part->host_operators, type, own);
        part->operated.add(activity.start,
                           activity.start + activity.duration.value_or(Nanoseconds(0)));
      }
    } else if (role == Role::work && activity.track.device) {
      add(device_layers, layer_name(activity));
      add(device_operators, type);
    }
  }

  // Returns the parts that contain the activity: its process and, if applicable, the iterations.
  std::vector<Breakdown*> find_parts(const Activity& activity) {
    std::vector<Breakdown*> parts = {&processes[activity.track.pid]};
    if (activity.attributes.find(Attribute::iteration) != nullptr) parts.push_back(&iterations);
    return parts;
  }

  // Enters activities that still wait for their end into the tables.
  void flush() {
    if (!pending) return;
    pending = false;
    // They forward to add() and add_own(), which accept everything and never fail.
    static_cast<void>(announcements.finish());
    static_cast<void>(self_times.finish());
    for (auto& [category, times] : own_times) static_cast<void>(times.finish());
    divide();
  }

  // Divides the wall time of the recorded iterations or, without them, of the processes.
  void divide() {
    division = {};
    if (has_iterations) {
      division.wall = iteration_time;
      division.unattributed = iterations.unattributed;
      division.layers = division.layer_shares = iterations.layers;
      division.outside_work = iterations.outside;
      division.work_shares = iterations.work;
      division.operator_shares = iterations.host_operators;
      return;
    }
    for (const ProcessCoverage& process : coverage.coverage(starts).processes) {
      const Breakdown& part = processes[process.pid];
      division.add(part,
                   process.source == WallSource::unknown ? part.occupied.total() : process.wall);
    }
  }

  void add(const Activity& activity, std::optional<Nanoseconds> self) {
    last_time = std::max(last_time, activity.start + activity.duration.value_or(Nanoseconds(0)));
    if (activity.kind == ActivityKind::counter) return add_counter(activity);
    if (activity.kind == ActivityKind::allocation) return add_allocation(activity);
    const std::string_view category = find_category(activity);
    if (!category.empty()) categories[std::string(category)][activity.name].add(activity, self);
    attribute(activity, self);
    if (opens_layer(activity)) range_layers[activity.scope].add(activity, self);
    const std::string type(analysis::operation_type(activity));
    const Role role = classify_role(activity);
    if (role == Role::host_operator) {
      host_layers[layer_name(activity)].add(activity, self);
      host_operators[type].add(activity, self);
    } else if (role == Role::work && activity.track.device) {
      device_layers[layer_name(activity)].add(activity, self);
      device_operators[type].add(activity, self);
    } else if (role == Role::work) {
      work_layers[layer_name(activity)].add(activity, self);
      work_operators[type].add(activity, self);
    }
  }

  void attribute(const Activity& activity, std::optional<Nanoseconds> self) {
    if (!self || activity.track.device) return;
    for (Breakdown* part : find_parts(activity)) part->add(activity, *self);
    if (!is_iteration(activity)) return;
    has_iterations = true;
    if (!activity.case_id.empty()) iteration_cases.insert(activity.case_id);
    iteration_time = saturating_sum(iteration_time, *activity.duration);
  }

  TimeRow layer_row(const std::string& name) const {
    if (name == kUnattributed) {
      return remainder_row(kUnattributed, find_time(division.layers, kUnattributed));
    }
    if (name == kOutside) return remainder_row(kOutside, division.outside);
    if (const Times* host = find(host_layers, name)) return make_time_row(name, *host);
    const Times* opening = find(range_layers, name);
    const Times* work = find(work_layers, name);
    const bool is_work_alone = opening == nullptr && !division.outside_work.contains(name);
    if (is_work_alone && work != nullptr) return make_time_row(name, *work);
    return layer_of_ranges(name, opening, division);
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
  std::map<std::string, SelfTimes> own_times;  // key: category
  BeginRecordMerger announcements;
  analysis::BoundedNames names;
  bool pending = false;
  bool has_iterations = false;
  std::set<std::string> iteration_cases;  // cases with recorded iterations
  Nanoseconds last_time{0};
  Nanoseconds iteration_time{0};
  CoverageSink coverage;
  SampleTimes samples;
  StartTimes starts = StartTimes::recorded;
  std::map<std::int64_t, Breakdown> processes;  // key: pid
  Division division;                            // valid after flush()
  Breakdown iterations{.extent = Breakdown::Extent::iterations};
  TimesByName host_layers, range_layers, work_layers, device_layers;
  TimesByName host_operators, work_operators, device_operators;
  std::map<std::string, TimesByName> categories;
  std::map<std::pair<std::string, std::int64_t>, CounterState> counters;
  std::map<std::string, NumberStatistics> memory;
};

Summary::Summary() : state_(std::make_unique<State>()) {}
Summary::~Summary() = default;
Summary::Summary(Summary&&) noexcept = default;
Summary& Summary::operator=(Summary&&) noexcept = default;

Status Summary::consume(const Activity& activity) {
  state_->pending = true;
  return state_->announcements.consume(activity);
}

void Summary::reset() { state_ = std::make_unique<State>(); }

bool Summary::empty() const {
  state_->flush();
  return state_->categories.empty() && state_->counters.empty() && state_->memory.empty();
}

void Summary::set_start_times(StartTimes starts) {
  state_->starts = starts;
  state_->pending = true;
}

bool Summary::has_joined_names() const { return state_->names.has_joined(); }

const SampleTimes& Summary::samples() const {
  state_->flush();
  return state_->samples;
}

Attribution Summary::attribution() const {
  state_->flush();
  const Division& division = state_->division;
  Attribution result;
  result.wall = division.wall;
  result.unattributed = saturating_sum(division.unattributed, division.outside);
  result.attributed = result.wall - result.unattributed;
  result.outside = division.outside;
  result.cases = state_->iteration_cases.size();
  if (!state_->has_iterations) result.coverage = state_->coverage.coverage(state_->starts);
  result.threads =
      division.is_concurrent ? Attribution::Threads::at_once : Attribution::Threads::one_at_a_time;
  return result;
}

std::vector<TimeRow> Summary::layers(const SummaryOptions& options) const {
  state_->flush();
  const Division& division = state_->division;
  std::set<std::string> names;
  add_names(division.layers, names);
  add_names(state_->host_layers, names);
  add_names(state_->work_layers, names);
  if (division.unattributed == Nanoseconds(0)) names.erase(kUnattributed);
  Durations shares = division.layer_shares;
  if (division.outside > Nanoseconds(0)) {
    names.insert(kOutside);
    shares[kOutside] = division.outside;
  }
  std::vector<TimeRow> rows;
  for (const std::string& name : names) rows.push_back(state_->layer_row(name));
  return finish_table(std::move(rows), shares, division.wall, options);
}

std::vector<TimeRow> Summary::operators(const SummaryOptions& options) const {
  state_->flush();
  const Division& division = state_->division;
  if (!state_->work_operators.empty()) {
    return operator_table(state_->work_operators, division.work_shares, kNoPrimitive, division.wall,
                          options);
  }
  if (state_->host_operators.empty()) return {};
  return operator_table(state_->host_operators, division.operator_shares, kNoOperator,
                        division.wall, options);
}

std::vector<TimeRow> Summary::device_layers(const SummaryOptions& options) const {
  state_->flush();
  return make_time_table(state_->device_layers, options);
}

std::vector<TimeRow> Summary::device_operators(const SummaryOptions& options) const {
  state_->flush();
  return make_time_table(state_->device_operators, options);
}

std::map<std::string, std::vector<TimeRow>> Summary::categories(
    const SummaryOptions& options) const {
  state_->flush();
  std::map<std::string, std::vector<TimeRow>> tables;
  for (const auto& [name, times] : state_->categories)
    tables[name] = make_time_table(times, options);
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
