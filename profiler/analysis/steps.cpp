// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/steps.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/kinds.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/analysis/small_table.hpp"
#include "profiler/gpu/measuring_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace bench::analysis {
namespace {

constexpr std::size_t kMaxRangeNames = 1000;  // kept for a message
constexpr std::size_t kShownRangeNames = 6;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Nanoseconds end_of_activity(const Activity& activity) {
  return saturating_sum(activity.start, activity.duration.value_or(Nanoseconds(0)));
}

// Sorts the steps, and removes those within a step of the same thread.
std::vector<StepFinder::Step> order_steps(std::vector<StepFinder::Step> steps) {
  using Step = StepFinder::Step;
  std::ranges::sort(steps, [](const Step& a, const Step& b) {
    return std::tuple(a.pid, a.tid, a.begin, b.end) < std::tuple(b.pid, b.tid, b.begin, a.end);
  });
  std::vector<Step> outermost;
  std::int64_t number = 0;
  for (Step& step : steps) {
    const bool is_new_thread =
        outermost.empty() || outermost.back().pid != step.pid || outermost.back().tid != step.tid;
    if (is_new_thread) number = 0;
    if (!is_new_thread && step.end <= outermost.back().end) continue;
    step.number = step.iteration ? *step.iteration : number++;
    outermost.push_back(std::move(step));
  }
  std::ranges::stable_sort(outermost, {}, &Step::begin);
  return outermost;
}

}  // namespace

bool names_step(std::string_view text, std::string_view name) {
  if (name.empty() || text.size() < name.size()) return false;
  if (!std::ranges::equal(text.substr(0, name.size()), name, {}, lower, lower)) return false;
  std::string_view rest = text.substr(name.size());
  if (rest.empty()) return true;
  rest.remove_prefix(std::min(rest.find_first_not_of(" _-#:/"), rest.size()));
  return !rest.empty() && std::ranges::all_of(rest, is_digit);
}

bool StepFinder::is_step(const Activity& activity) const {
  if (!name_.empty()) return names_step(activity.name, name_);
  return std::ranges::any_of(
      kStepNames, [&](std::string_view name) { return names_step(activity.name, name); });
}

void StepFinder::add(const Activity& activity) {
  if (activity.kind != ActivityKind::range || !activity.duration) return;
  const auto iteration = activity.attributes.integer(Attribute::iteration);
  const bool is_named = is_step(activity);
  if (!is_named && (!iteration || !name_.empty())) {
    const auto known = others_.find(activity.name);
    if (known != others_.end()) {
      ++known->second;
    } else if (others_.size() < kMaxRangeNames) {
      others_.emplace(activity.name, 1);
    }
    return;
  }
  Step step;
  step.pid = activity.track.pid;
  step.tid = activity.track.tid;
  step.begin = activity.start;
  step.end = end_of_activity(activity);
  step.rank = activity.attributes.integer(Attribute::rank);
  if (is_named) {
    named_.push_back(std::move(step));
  } else {
    step.case_id = activity.case_id;
    step.iteration = iteration;
    iterations_.push_back(std::move(step));
  }
}

std::vector<StepFinder::Step> StepFinder::steps() const {
  return order_steps(named_.empty() ? iterations_ : named_);
}

std::string StepFinder::describe_ranges() const {
  std::vector<std::pair<std::int64_t, std::string>> ranges;
  for (const auto& [name, count] : others_) ranges.emplace_back(-count, name);
  std::ranges::sort(ranges);
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kShownRangeNames); ++i) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", printable(ranges[i].second),
                        -ranges[i].first);
  }
  return text + (ranges.size() > kShownRangeNames ? ", ..." : "");
}

namespace {

// What devices executed, as far as the steps need it: times only.
class DeviceWork {
 public:
  struct Interval {
    Nanoseconds begin{0}, end{0};
    Nanoseconds latest_end{0};  // of this interval and all before it; set by sort()
  };
  // A process, and the number of its GPU; nullopt for the CPU.
  using Device = std::pair<std::int64_t, std::optional<std::int64_t>>;

  void add(const Activity& activity) {
    if (!is_work(activity.kind) || !activity.duration || !is_executed(activity)) return;
    devices_[{activity.track.pid, activity.track.device}].push_back(
        {activity.start, end_of_activity(activity), {}});
  }
  void sort() {
    for (auto& [device, intervals] : devices_) {
      std::ranges::sort(intervals, {}, &Interval::begin);
      Nanoseconds latest = Nanoseconds::min();
      for (Interval& interval : intervals)
        interval.latest_end = latest = std::max(latest, interval.end);
    }
  }
  // Returns the GPUs of a process, or the CPU if it executed nothing on a GPU.
  std::vector<Device> devices(std::int64_t pid) const {
    std::vector<Device> found;
    for (const auto& [device, intervals] : devices_) {
      if (device.first == pid && device.second) found.push_back(device);
    }
    if (found.empty() && devices_.contains({pid, std::nullopt}))
      found.emplace_back(pid, std::nullopt);
    return found;
  }

  struct Use {
    std::int64_t count = 0;  // activities that began in the step
    Nanoseconds busy{0};     // overlaps count once
  };
  // Call this after sort().
  Use use(const Device& device, Nanoseconds begin, Nanoseconds end) const {
    const std::vector<Interval>& intervals = devices_.at(device);
    Use use;
    // What began before the step may reach into it.
    auto next = std::ranges::lower_bound(intervals, begin, {}, &Interval::begin);
    const Nanoseconds before = next == intervals.begin() ? begin : std::prev(next)->latest_end;
    Nanoseconds covered = std::clamp(before, begin, end);
    use.busy = covered - begin;
    for (; next != intervals.end() && next->begin < end; ++next) {
      ++use.count;
      const Nanoseconds from = std::max(covered, next->begin), to = std::min(end, next->end);
      if (to > from) use.busy += to - from;
      covered = std::max(covered, to);
    }
    return use;
  }

 private:
  std::map<Device, std::vector<Interval>> devices_;
};

class StepSink final : public ActivitySink {
 public:
  explicit StepSink(const std::string& name) : steps(name) {}
  Status consume(const Activity& activity) override {
    steps.add(activity);
    work.add(activity);
    return Done{};
  }
  StepFinder steps;
  DeviceWork work;
};

// A row of the table.
struct StepRow {
  StepFinder::Step step;
  std::string device;
  std::optional<DeviceWork::Use> use;  // nullopt if its process recorded no work
  Nanoseconds time() const { return step.end - step.begin; }
};

std::string format_device_name(const DeviceWork::Device& device) {
  return device.second ? fmt::format("cuda:{}", *device.second) : std::string("cpu");
}

std::vector<StepRow> make_step_rows(StepSink& sink) {
  sink.work.sort();
  std::vector<StepRow> rows;
  for (const StepFinder::Step& step : sink.steps.steps()) {
    const auto devices = sink.work.devices(step.pid);
    for (const DeviceWork::Device& device : devices)
      rows.push_back(
          {step, format_device_name(device), sink.work.use(device, step.begin, step.end)});
    if (devices.empty()) rows.push_back({step, "", std::nullopt});
  }
  return rows;
}

// Values of one kind in all rows.
struct Extremes {
  Nanoseconds min{0}, median{0}, max{0};
};

// Returns the lower of two middle values: each of them occurred.
Extremes find_extremes(std::vector<Nanoseconds> values) {
  std::ranges::sort(values);
  return {values.front(), values[(values.size() - 1) / 2], values.back()};
}

Cell nanoseconds_cell(Nanoseconds time) { return std::int64_t{time.count()}; }

Cell busy_share(Nanoseconds busy, Nanoseconds time) {
  if (time <= Nanoseconds(0)) return {};
  return static_cast<double>(busy.count()) / static_cast<double>(time.count());
}

// The columns of a row, in the order of step_columns().
struct StepCell {
  enum : std::size_t {
    number,
    rank,
    process,
    case_id,
    device,
    start,
    count,
    time,
    busy,
    idle,
    share
  };
};

std::vector<SmallTable::Shown> step_columns() {
  return {{number_only_column("step", "step", Quantity::none)},
          {number_only_column("rank", "rank", Quantity::none)},
          {number_only_column("pid", "process", Quantity::none), 2},
          {text_only_column("case", "case"), 3},
          {text_only_column("device", "device"), 1},
          {number_only_column("start_ns", "start", Quantity::time), 4},
          {number_only_column("count", "count", Quantity::none)},
          {number_only_column("time_ns", "time", Quantity::time)},
          {number_only_column("busy_ns", "busy", Quantity::time)},
          {number_only_column("idle_ns", "idle", Quantity::time)},
          {number_only_column("busy_share", "busy %", Quantity::share)}};
}

std::vector<Cell> make_cells(const StepRow& row, Nanoseconds origin, bool shows_process) {
  std::vector<Cell> cells(StepCell::share + 1);
  cells[StepCell::number] = row.step.number;
  if (row.step.rank) cells[StepCell::rank] = *row.step.rank;
  if (shows_process && row.step.pid > 0) cells[StepCell::process] = row.step.pid;
  if (!row.step.case_id.empty()) cells[StepCell::case_id] = row.step.case_id;
  if (!row.device.empty()) cells[StepCell::device] = row.device;
  cells[StepCell::start] = nanoseconds_cell(row.step.begin - origin);
  cells[StepCell::time] = nanoseconds_cell(row.time());
  if (!row.use) return cells;
  cells[StepCell::count] = row.use->count;
  cells[StepCell::busy] = nanoseconds_cell(row.use->busy);
  cells[StepCell::idle] = nanoseconds_cell(row.time() - row.use->busy);
  cells[StepCell::share] = busy_share(row.use->busy, row.time());
  return cells;
}

// Rows that are comparable: the steps of one case on one device of one process.
struct StepGroup {
  const StepRow* first = nullptr;
  std::vector<const StepRow*> rows;
};

// Returns the groups in the order of their first steps.
std::vector<StepGroup> group_steps(std::span<const StepRow> rows) {
  using Key = std::tuple<std::int64_t, std::string, std::string>;
  std::map<Key, std::size_t> positions;
  std::vector<StepGroup> groups;
  for (const StepRow& row : rows) {
    const Key key{row.step.pid, row.step.case_id, row.device};
    const auto [found, is_new] = positions.emplace(key, groups.size());
    if (is_new) groups.push_back({&row, {}});
    groups[found->second].rows.push_back(&row);
  }
  return groups;
}

// What differs between the groups, and so has to be part of their names.
struct StepVariety {
  std::set<std::int64_t> processes;
  std::set<std::string> cases, devices;
  explicit StepVariety(std::span<const StepRow> rows) {
    for (const StepRow& row : rows) {
      processes.insert(row.step.pid);
      cases.insert(row.step.case_id);
      devices.insert(row.device);
    }
  }
};

// The rows of a group, for minimum, median and maximum.
std::vector<std::vector<Cell>> make_statistics(const StepGroup& group, const StepVariety& variety) {
  std::vector<Nanoseconds> times, busy, idle;
  for (const StepRow* row : group.rows) {
    times.push_back(row->time());
    if (!row->use) continue;
    busy.push_back(row->use->busy);
    idle.push_back(row->time() - row->use->busy);
  }
  const StepRow& first = *group.first;
  using Value = Nanoseconds Extremes::*;
  constexpr std::array<std::pair<std::string_view, Value>, 3> kNames = {
      {{"min", &Extremes::min}, {"median", &Extremes::median}, {"max", &Extremes::max}}};
  std::vector<std::vector<Cell>> statistics;
  for (const auto& [name, value] : kNames) {
    std::vector<Cell> cells(StepCell::share + 1);
    cells[StepCell::number] = std::string(name);
    if (variety.processes.size() > 1) {
      if (first.step.rank) cells[StepCell::rank] = *first.step.rank;
      if (first.step.pid > 0) cells[StepCell::process] = first.step.pid;
    }
    if (!first.step.case_id.empty()) cells[StepCell::case_id] = first.step.case_id;
    if (!first.device.empty()) cells[StepCell::device] = first.device;
    cells[StepCell::time] = nanoseconds_cell(find_extremes(times).*value);
    if (!busy.empty()) {
      cells[StepCell::busy] = nanoseconds_cell(find_extremes(busy).*value);
      cells[StepCell::idle] = nanoseconds_cell(find_extremes(idle).*value);
    }
    statistics.push_back(std::move(cells));
  }
  return statistics;
}

// Steps of one case, each once whatever number of devices it has.
struct CaseSteps {
  std::map<std::tuple<std::int64_t, std::int64_t, Nanoseconds>, Nanoseconds> times;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;

  void add(const StepRow& row) {
    times.emplace(std::tuple(row.step.pid, row.step.tid, row.step.begin), row.time());
    threads.emplace(row.step.pid, row.step.tid);
  }
  Nanoseconds total() const {
    Nanoseconds sum{0};
    for (const auto& [step, time] : times) sum = saturating_sum(sum, time);
    return sum;
  }
  std::string describe() const {
    std::vector<Nanoseconds> values;
    for (const auto& [step, time] : times) values.push_back(time);
    const Extremes extremes = find_extremes(values);
    std::string text = pluralise(times.size(), "step");
    if (threads.size() > 1) text += fmt::format(" of {} threads", threads.size());
    if (times.size() == 1) return text + fmt::format(" took {}.", format_time(extremes.median));
    return text + fmt::format(" took {} in the median, {} to {}.", format_time(extremes.median),
                              format_time(extremes.min), format_time(extremes.max));
  }
};

// Sentences about more cases or devices than these would hide the answer.
constexpr std::size_t kMaxStepSentences = 4;

// Cases are different work, so their steps have no common median.
std::string describe_step_times(const std::map<std::string, CaseSteps>& cases) {
  if (cases.size() == 1) return cases.begin()->second.describe();
  std::size_t steps = 0;
  for (const auto& [id, own] : cases) steps += own.times.size();
  std::string text =
      fmt::format("{} of {}:", pluralise(steps, "step"), pluralise(cases.size(), "case"));
  std::size_t shown = 0;
  for (const auto& [id, own] : cases) {
    if (++shown > kMaxStepSentences) return text + " The last rows show the other cases.";
    text += fmt::format(" {}: {}", id.empty() ? "no case" : printable(id), own.describe());
  }
  return text;
}

std::string name_step_device(const StepGroup& group, const StepVariety& variety) {
  const StepFinder::Step& step = group.first->step;
  std::string name = group.first->device;
  if (variety.processes.size() > 1)
    name += step.rank ? fmt::format(" of rank {}", *step.rank)
                      : fmt::format(" of process {}", step.pid);
  if (variety.cases.size() > 1 && !step.case_id.empty())
    name += fmt::format(" in {}", printable(step.case_id));
  return name;
}

// Says which part of the steps the devices worked.
std::string describe_busy(const std::vector<StepGroup>& groups, const StepVariety& variety) {
  std::string text;
  std::size_t shown = 0;
  for (const StepGroup& group : groups) {
    Nanoseconds time{0}, busy{0};
    for (const StepRow* row : group.rows) {
      if (!row->use) continue;
      time = saturating_sum(time, row->time());
      busy = saturating_sum(busy, row->use->busy);
    }
    if (group.first->device.empty() || time <= Nanoseconds(0)) continue;
    if (++shown > kMaxStepSentences) return text + " The last rows show the other devices.";
    text += fmt::format(" {} was busy in {} of their time and idle for {}.",
                        name_step_device(group, variety), format_part(busy, time),
                        format_time(time - busy));
  }
  return text;
}

// Columns by which the groups differ stay on a narrow terminal.
void keep_columns(const StepVariety& variety, SmallTable& table) {
  if (variety.cases.size() > 1) table.columns[StepCell::case_id].expendable = 0;
  if (variety.devices.size() > 1) table.columns[StepCell::device].expendable = 0;
  if (variety.processes.size() > 1) table.columns[StepCell::process].expendable = 0;
}

SmallTable make_step_table(std::span<const StepRow> rows) {
  SmallTable table;
  table.columns = step_columns();
  const StepVariety variety(rows);
  const std::vector<StepGroup> groups = group_steps(rows);
  keep_columns(variety, table);
  std::map<std::string, CaseSteps> cases;
  const Nanoseconds origin = rows.front().step.begin;
  for (const StepRow& row : rows) {
    cases[row.step.case_id].add(row);
    table.rows.push_back(make_cells(row, origin, variety.processes.size() > 1));
  }
  for (const auto& [id, own] : cases) {
    table.selected += static_cast<std::int64_t>(own.times.size());
    table.total = saturating_sum(table.total, own.total());
  }
  table.answer = describe_step_times(cases) + describe_busy(groups, variety);
  for (const StepGroup& group : groups) {
    if (table.selected < 2) break;
    for (auto& cells : make_statistics(group, variety))
      table.statistics.push_back(std::move(cells));
  }
  if (variety.devices.contains(""))
    table.notes_below.emplace_back(
        "n/a: the process of the step recorded no primitive, kernel or copy.");
  return table;
}

Error no_steps(const StepFinder& finder, const std::string& name, const std::string& file) {
  const std::string ranges = finder.describe_ranges();
  return Error{fmt::format("contains no step: no range is named {}",
                           quote(name.empty() ? std::string(kStepNames[0]) : name)),
               file,
               ranges.empty()
                   ? std::string("mark the steps of the program with a range (docs/profiler.md)")
                   : fmt::format("name the range of a step with --steps=NAME; ranges: {}", ranges)};
}

}  // namespace
}  // namespace bench::analysis

namespace bench {

Result<AnalysisOutcome> analyze_steps(const ActivityInput& input, const std::string& name,
                                      const AnalysisOptions& options,
                                      const AnalysisTarget& target) {
  using namespace analysis;
  BENCH_ASSIGN_OR_RETURN(const SmallTableStyle style, choose_style(options));
  StepSink sink(name);
  MeasuringKernelFilter shown(sink);
  BeginRecordMerger announcements(shown);
  AnalysisOutcome outcome;
  BENCH_ASSIGN_OR_RETURN(outcome.report, input.read(announcements));
  BENCH_RETURN_IF_ERROR(announcements.finish());
  const std::vector<StepRow> rows = make_step_rows(sink);
  if (rows.empty()) return no_steps(sink.steps, name, input.name);
  SmallTable table = make_step_table(rows);
  table.notes_above = input.statements();
  BENCH_RETURN_IF_ERROR(write_small_table(table, style, target, outcome));
  return outcome;
}

}  // namespace bench
