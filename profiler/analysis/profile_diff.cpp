// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/profile_diff.hpp"

#include "base/printable.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "profiler/analysis/announcements.hpp"
#include "profiler/analysis/coverage.hpp"
#include "profiler/analysis/file_contents.hpp"
#include "profiler/analysis/query_plan.hpp"
#include "profiler/analysis/saturating.hpp"
#include "profiler/analysis/small_table.hpp"
#include "profiler/analysis/steps.hpp"
#include "profiler/gpu/measuring_kernels.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::analysis {
namespace {

// About 1 kB each, as in a table of groups.
constexpr std::size_t kMaxDiffGroups = 200'000;
// 48 bytes each, and 32 per call that launches work. Above this number, times are compared by their
// sums.
constexpr std::size_t kMaxDiffActivities = 4'000'000;
// A kernel may seem to begin before its launch by the error of the clocks.
constexpr Nanoseconds kMaxLaunchError{1'000'000};
// If less than this part of the time is in iterations, these are not what the program does.
constexpr double kMinInIterations = 0.5;
// A total difference below this part of the sum of all differences is left over from differences
// that cancel. Shares of it would be arbitrary.
constexpr double kMinRemaining = 0.1;

// What one side has of one group.
struct DiffValue {
  Nanoseconds time{0};
  double count = 0;  // per iteration, if the time is
};

// The activities of one profile, by group.
class DiffSide final : public ActivitySink {
 public:
  DiffSide(const QueryPlan& plan, const AnalysisOptions& options)
      : plan_(plan), contents_(options), steps_("") {}

  Status consume(const Activity& activity) override {
    contents_.add(activity);
    steps_.add(activity);
    add_launch(activity);
    const Level level = plan_.selection.level(activity);
    if (level == Level::none || level < level_) return Done{};
    if (level > level_) forget(level);
    if (!plan_.selection.admits(activity) || !activity.duration) return Done{};
    return add(activity);
  }

  // Call this after the last activity. Finds the iteration of each.
  void finish() {
    if (samples_.size() < selected_ || launches_.size() >= kMaxDiffActivities) return;  // too many
    for (const StepFinder::Step& step : steps_.steps()) {
      IterationSteps& own = iterations_[{step.pid, step.case_id}];
      own.of_thread[step.tid].push_back(own.steps.size());
      own.latest_ends.push_back(own.steps.empty() ? step.end
                                                  : std::max(own.latest_ends.back(), step.end));
      own.steps.push_back(step);
    }
    std::ranges::sort(launches_);
    Nanoseconds inside{0};
    for (Sample& sample : samples_) {
      move_to_launch(sample);
      sample.iteration = find_iteration(sample);
      if (sample.iteration >= 0) inside = saturating_sum(inside, Nanoseconds(sample.time));
    }
    inside_ = inside;
  }

  bool has_iterations() const {
    const auto whole = static_cast<double>(time_.count());
    return whole > 0 && static_cast<double>(inside_.count()) >= kMinInIterations * whole;
  }
  // The number of iterations of a process and case; of several, of all.
  std::size_t iterations() const {
    std::size_t count = 0;
    for (const auto& [stratum, steps] : iterations_) count += steps.steps.size();
    return count;
  }
  Nanoseconds outside_iterations() const { return time_ - inside_; }

  std::vector<DiffValue> sums() const {
    std::vector<DiffValue> values(groups_.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = {totals_[i].time, totals_[i].count};
    return values;
  }
  std::vector<DiffValue> medians_per_iteration();

  std::size_t selected() const { return selected_; }
  Level level() const { return level_; }
  const FileContents& contents() const { return contents_; }
  // Key: the values by which groups are formed. Value: index of the group.
  const std::unordered_map<std::string, std::size_t>& groups() const { return groups_; }
  const std::vector<Cell>& cells(std::size_t group) const { return cells_[group]; }

 private:
  struct Sample {
    // When it was launched, if that is known, and by which thread.
    std::int64_t start, tid;
    std::int64_t time;
    std::uint64_t correlation;  // 0: not work of a device, or its launch is unknown
    std::uint32_t group, stratum;
    std::int64_t iteration;  // its own number first, then its position among iterations; -1: none
  };
  using Stratum = std::pair<std::int64_t, std::string>;  // a process and a case
  // A call that put work on a device. In the order in which they are searched.
  struct Launch {
    std::int64_t pid;
    std::uint64_t correlation;
    std::int64_t start, tid;
    auto operator<=>(const Launch&) const = default;
  };
  // The steps of all threads, in the order in which they began.
  struct IterationSteps {
    std::vector<StepFinder::Step> steps;
    std::map<std::int64_t, std::vector<std::size_t>> of_thread;  // positions of its steps
    // When the last of a step and those before it ends.
    std::vector<Nanoseconds> latest_ends;
  };

  void forget(Level level) {
    level_ = level;
    groups_.clear();
    cells_.clear();
    totals_.clear();
    samples_.clear();
    selected_ = 0;
    time_ = Nanoseconds(0);
  }

  Status add(const Activity& activity) {
    BENCH_ASSIGN_OR_RETURN(const std::size_t group, find_group(activity));
    ++selected_;
    time_ = saturating_sum(time_, *activity.duration);
    totals_[group].time = saturating_sum(totals_[group].time, *activity.duration);
    totals_[group].count += 1;
    if (samples_.size() >= kMaxDiffActivities) return Done{};
    const bool is_launched = is_device_work(activity.kind);
    // Without the call, the wait since the launch is what is known about it.
    const std::int64_t waited =
        is_launched ? activity.attributes.integer(Attribute::wait_ns).value_or(0) : 0;
    const Nanoseconds start = saturating_sum(activity.start, Nanoseconds(-waited));
    samples_.push_back({start.count(), activity.track.tid, activity.duration->count(),
                        is_launched ? activity.correlation.value_or(0) : 0,
                        static_cast<std::uint32_t>(group), find_stratum(activity),
                        activity.attributes.integer(Attribute::iteration).value_or(-1)});
    return Done{};
  }

  static bool is_device_work(ActivityKind kind) {
    return kind == ActivityKind::kernel || kind == ActivityKind::memcpy ||
           kind == ActivityKind::memset;
  }

  void add_launch(const Activity& activity) {
    const bool is_launch = activity.kind == ActivityKind::api && activity.correlation;
    if (is_launch && launches_.size() < kMaxDiffActivities)
      launches_.push_back(
          {activity.track.pid, *activity.correlation, activity.start.count(), activity.track.tid});
  }

  // A kernel belongs to the iteration that launched it, also if it runs in a later one. Of several
  // calls with its correlation, the last one before it counts.
  void move_to_launch(Sample& sample) const {
    if (sample.correlation == 0) return;
    const Launch limit{strata_[sample.stratum].first, sample.correlation,
                       saturating_sum(Nanoseconds(sample.start), kMaxLaunchError).count(),
                       std::numeric_limits<std::int64_t>::max()};
    const auto after = std::ranges::upper_bound(launches_, limit);
    if (after == launches_.begin()) return;
    const Launch& launch = *std::prev(after);
    if (launch.pid != limit.pid || launch.correlation != limit.correlation) return;
    sample.start = launch.start;
    sample.tid = launch.tid;
  }

  Result<std::size_t> find_group(const Activity& activity) {
    const RowContext context{activity, std::nullopt, plan_.peaks};
    std::vector<Cell> cells;
    key_.clear();
    for (const Column* column : plan_.group_by) {
      Cell cell = column->of_activity(context, *column);
      const auto* text = std::get_if<std::string>(&cell);
      const std::string value = text != nullptr ? *text : raw(cell);
      fmt::format_to(std::back_inserter(key_), "{}{}:{}", cell.index(), value.size(), value);
      cells.push_back(std::move(cell));
    }
    const auto [found, is_new] = groups_.emplace(key_, cells_.size());
    if (!is_new) return found->second;
    if (groups_.size() > kMaxDiffGroups) {
      return Error{fmt::format("more than {} different groups", kMaxDiffGroups), "--aggregate-by",
                   "filter, or group by something coarser"};
    }
    cells_.push_back(std::move(cells));
    totals_.emplace_back();
    return found->second;
  }

  std::uint32_t find_stratum(const Activity& activity) {
    if (strata_.empty() || last_stratum_.first != activity.track.pid ||
        last_stratum_.second != activity.case_id) {
      last_stratum_ = {activity.track.pid, activity.case_id};
      const auto next = static_cast<std::uint32_t>(strata_.size());
      const auto [found, is_new] = stratum_numbers_.emplace(last_stratum_, next);
      if (is_new) strata_.push_back(last_stratum_);
      last_number_ = found->second;
    }
    return last_number_;
  }

  // Returns the iterations to which activities of a process and case belong: steps that a program
  // marks have no case.
  const IterationSteps* find_steps(std::uint32_t stratum) const {
    auto found = iterations_.find(strata_[stratum]);
    if (found == iterations_.end()) found = iterations_.find({strata_[stratum].first, ""});
    return found == iterations_.end() ? nullptr : &found->second;
  }

  // Returns the position of its iteration; -1 if it is in none.
  std::int64_t find_iteration(const Sample& sample) const {
    const IterationSteps* const found = find_steps(sample.stratum);
    if (found == nullptr) return -1;
    const std::vector<StepFinder::Step>& steps = found->steps;
    const std::int64_t inside = find_running_step(*found, sample);
    if (sample.iteration < 0) return inside;
    if (inside >= 0 && steps[static_cast<std::size_t>(inside)].number == sample.iteration)
      return inside;
    // A kernel may run after the iteration that launched it.
    const auto own = std::ranges::find(steps, sample.iteration, &StepFinder::Step::number);
    return own != steps.end() ? own - steps.begin() : inside;
  }

  // Returns the position of the step of the sample's thread that runs when the sample starts; -1 if
  // there is none.
  static std::int64_t find_own_step(const IterationSteps& all, const Sample& sample) {
    const auto own = all.of_thread.find(sample.tid);
    if (own == all.of_thread.end()) return -1;
    const Nanoseconds start(sample.start);
    const auto begin_of = [&](std::size_t position) { return all.steps[position].begin; };
    const auto after = std::ranges::upper_bound(own->second, start, {}, begin_of);
    if (after == own->second.begin() || all.steps[*std::prev(after)].end <= start) return -1;
    return static_cast<std::int64_t>(*std::prev(after));
  }

  // Returns the position of the step that runs when the sample starts; -1 if there is none. Steps
  // of several threads overlap: prefers the one with the sample's own number, then the one of its
  // thread, then the one that began last.
  static std::int64_t find_running_step(const IterationSteps& all, const Sample& sample) {
    const Nanoseconds start(sample.start);
    const std::int64_t own = find_own_step(all, sample);
    if (own >= 0 && (sample.iteration < 0 ||
                     all.steps[static_cast<std::size_t>(own)].number == sample.iteration))
      return own;
    const auto after = std::ranges::upper_bound(all.steps, start, {}, &StepFinder::Step::begin);
    std::int64_t last = -1;
    for (auto i = static_cast<std::size_t>(after - all.steps.begin());
         i > 0 && all.latest_ends[i - 1] > start; --i) {
      const StepFinder::Step& step = all.steps[i - 1];
      if (step.end <= start) continue;
      const auto position = static_cast<std::int64_t>(i) - 1;
      if (sample.iteration < 0 || step.number == sample.iteration) return position;
      last = std::max(last, position);
    }
    return last;
  }

  const QueryPlan& plan_;
  FileContents contents_;
  StepFinder steps_;
  Level level_ = Level::none;
  std::unordered_map<std::string, std::size_t> groups_;
  std::vector<std::vector<Cell>> cells_;
  std::vector<DiffValue> totals_;
  std::vector<Sample> samples_;
  std::vector<Launch> launches_;
  std::size_t selected_ = 0;
  Nanoseconds time_{0}, inside_{0};
  std::string key_;
  std::map<Stratum, std::uint32_t> stratum_numbers_;
  std::vector<Stratum> strata_;
  Stratum last_stratum_;
  std::uint32_t last_number_ = 0;
  std::map<Stratum, IterationSteps> iterations_;
};

// Returns the median over `all` iterations, of which those without an activity took nothing. A
// group that most iterations do not have would have a median of 0: its mean counts instead.
Nanoseconds typical_of_iterations(std::vector<Nanoseconds> times, std::size_t all) {
  Nanoseconds sum{0};
  for (const Nanoseconds time : times) sum = saturating_sum(sum, time);
  if (2 * times.size() <= all) return sum / static_cast<std::int64_t>(all);
  times.resize(all, Nanoseconds(0));
  std::ranges::sort(times);
  const std::size_t middle = all / 2;
  if (all % 2 == 1) return times[middle];
  return times[middle - 1] + (times[middle] - times[middle - 1]) / 2;
}

std::vector<DiffValue> DiffSide::medians_per_iteration() {
  std::erase_if(samples_, [](const Sample& sample) { return sample.iteration < 0; });
  std::ranges::sort(samples_, [](const Sample& a, const Sample& b) {
    return std::tuple(a.group, a.stratum, a.iteration) <
           std::tuple(b.group, b.stratum, b.iteration);
  });
  std::vector<DiffValue> values(groups_.size());
  for (std::size_t i = 0; i < samples_.size();) {
    const Sample& first = samples_[i];
    const std::size_t all = find_steps(first.stratum)->steps.size();
    std::vector<Nanoseconds> times;  // one sum per iteration that has the group
    std::int64_t last = -1, count = 0;
    for (; i < samples_.size() && samples_[i].group == first.group &&
           samples_[i].stratum == first.stratum;
         ++i) {
      if (samples_[i].iteration != last) times.emplace_back(0);
      last = samples_[i].iteration;
      times.back() = saturating_sum(times.back(), Nanoseconds(samples_[i].time));
      ++count;
    }
    DiffValue& value = values[first.group];
    value.time = saturating_sum(value.time, typical_of_iterations(std::move(times), all));
    value.count += static_cast<double>(count) / static_cast<double>(all);
  }
  return values;
}

// The same value, or nothing, on both sides.
struct DiffRow {
  std::vector<Cell> cells;
  std::optional<DiffValue> a, b;
  Nanoseconds time_a() const { return a ? a->time : Nanoseconds(0); }
  Nanoseconds time_b() const { return b ? b->time : Nanoseconds(0); }
  Nanoseconds difference() const { return time_a() - time_b(); }
};

Nanoseconds magnitude(Nanoseconds time) { return time < Nanoseconds(0) ? -time : time; }

std::vector<DiffRow> join_sides(const DiffSide& a, const std::vector<DiffValue>& values_a,
                                const DiffSide& b, const std::vector<DiffValue>& values_b) {
  std::vector<DiffRow> rows;
  // A group that is only outside of iterations is not compared.
  const auto value_of = [](const std::vector<DiffValue>& values,
                           std::size_t group) -> std::optional<DiffValue> {
    return values[group].count > 0 ? std::optional(values[group]) : std::nullopt;
  };
  for (const auto& [key, group] : a.groups()) {
    const auto other = b.groups().find(key);
    rows.push_back({a.cells(group), value_of(values_a, group),
                    other == b.groups().end() ? std::nullopt : value_of(values_b, other->second)});
  }
  for (const auto& [key, group] : b.groups()) {
    if (!a.groups().contains(key))
      rows.push_back({b.cells(group), std::nullopt, value_of(values_b, group)});
  }
  std::erase_if(rows, [](const DiffRow& row) { return !row.a && !row.b; });
  std::ranges::sort(rows, [](const DiffRow& x, const DiffRow& y) {
    return std::tuple(-magnitude(x.difference()), -x.time_b(), x.cells) <
           std::tuple(-magnitude(y.difference()), -y.time_b(), y.cells);
  });
  return rows;
}

struct DiffTotals {
  Nanoseconds a{0}, b{0};
  Nanoseconds moved{0};  // the sum of all differences without their signs
  Nanoseconds difference() const { return a - b; }
  // Whether shares of the difference mean something.
  bool has_shares() const {
    return moved > Nanoseconds(0) && static_cast<double>(magnitude(difference()).count()) >=
                                         kMinRemaining * static_cast<double>(moved.count());
  }
};

DiffTotals sum_rows(const std::vector<DiffRow>& rows) {
  DiffTotals totals;
  for (const DiffRow& row : rows) {
    totals.a = saturating_sum(totals.a, row.time_a());
    totals.b = saturating_sum(totals.b, row.time_b());
    totals.moved = saturating_sum(totals.moved, magnitude(row.difference()));
  }
  return totals;
}

double ratio_of(Nanoseconds a, Nanoseconds b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

std::string format_difference(Nanoseconds difference) {
  return (difference < Nanoseconds(0) ? "-" : "+") + format_time(magnitude(difference));
}

std::string format_group(const DiffRow& row, const QueryPlan& plan) {
  std::string name;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const Column& column = *plan.group_by[i];
    name += (name.empty() ? "" : " ") + (is_known(row.cells[i])
                                             ? readable(row.cells[i], column.quantity)
                                             : std::string(column.absent));
  }
  return name;
}

bool is_group_known(const DiffRow& row) { return std::ranges::all_of(row.cells, is_known); }

// Says which group contributes most to the difference, among those that have a value, and what the
// activities without one contribute.
std::string describe_contributors(const std::vector<DiffRow>& rows, const DiffTotals& totals,
                                  const QueryPlan& plan) {
  const Nanoseconds difference = totals.difference();
  // The largest row may have changed in the other direction.
  const auto leads = [&](const DiffRow& row) {
    return difference != Nanoseconds(0) && is_group_known(row) &&
           (row.difference() > Nanoseconds(0)) == (difference > Nanoseconds(0));
  };
  const auto format_contribution = [&](Nanoseconds part) {
    std::string text = format_difference(part);
    if (totals.has_shares())
      text += fmt::format(", {:.1f} % of the difference", 100 * ratio_of(part, difference));
    return text;
  };
  std::string text;
  const auto leader = std::ranges::find_if(rows, leads);
  if (leader != rows.end())
    text += fmt::format(" {} contributes most: {}.", format_group(*leader, plan),
                        format_contribution(leader->difference()));
  Nanoseconds unknown{0};
  for (const DiffRow& row : rows) {
    if (!is_group_known(row)) unknown = saturating_sum(unknown, row.difference());
  }
  if (unknown != Nanoseconds(0)) {
    std::vector<std::string_view> names;
    for (const Column* column : plan.group_by) names.push_back(column->name);
    text += fmt::format(" Activities without {} contribute {}.", fmt::join(names, " or "),
                        format_contribution(unknown));
  }
  return text;
}

// The first sentences: which side is slower, and where most of it comes from.
std::string describe_difference(const std::vector<DiffRow>& rows, const DiffTotals& totals,
                                const QueryPlan& plan, const std::string& a, const std::string& b) {
  const Nanoseconds difference = totals.difference();
  std::string text;
  if (difference == Nanoseconds(0)) {
    text = fmt::format("{} takes as long as {}, {}.", a, b, format_time(totals.a));
  } else {
    const bool is_slower = difference > Nanoseconds(0);
    text = fmt::format("{} is {} than {}: {} against {}, {}", a, is_slower ? "slower" : "faster", b,
                       format_time(totals.a), format_time(totals.b), format_difference(difference));
    if (totals.b > Nanoseconds(0))
      text += fmt::format(", {:+.1f} %", 100 * (ratio_of(totals.a, totals.b) - 1));
    text += '.';
  }
  return text + describe_contributors(rows, totals, plan);
}

enum class DiffBasis { medians, sums };

std::string describe_diff_basis(DiffBasis basis, const DiffSide& a, const DiffSide& b,
                                const std::string& name_a, const std::string& name_b) {
  if (basis == DiffBasis::sums) {
    const bool lacks_a = !a.has_iterations(), lacks_b = !b.has_iterations();
    const std::string which =
        lacks_a && lacks_b ? "the files have" : (lacks_a ? name_a : name_b) + " has";
    return fmt::format(
        "Times are sums over each file, since {} no iterations; they are comparable "
        "only if both did the same work.",
        which);
  }
  std::string text =
      fmt::format("Times and counts are per iteration: medians over {} of {} and {} of {}.",
                  pluralise(a.iterations(), "iteration"), name_a, b.iterations(), name_b);
  const Nanoseconds outside_a = a.outside_iterations(), outside_b = b.outside_iterations();
  if (outside_a > Nanoseconds(0) || outside_b > Nanoseconds(0))
    text += fmt::format(" Outside of iterations, {} and {} are not compared.",
                        format_time(outside_a), format_time(outside_b));
  return text;
}

Cell count_cell(double count) {
  const double whole = std::round(count);
  return std::abs(count - whole) < 1e-9 ? Cell(static_cast<std::int64_t>(whole)) : Cell(count);
}

std::vector<Cell> make_diff_cells(const DiffRow& row, const DiffTotals& totals) {
  std::vector<Cell> cells = row.cells;
  const auto time_cell = [](const std::optional<DiffValue>& value) {
    return value ? Cell(std::int64_t{value->time.count()}) : Cell();
  };
  cells.push_back(time_cell(row.a));
  cells.push_back(time_cell(row.b));
  cells.emplace_back(std::int64_t{row.difference().count()});
  cells.push_back(row.a && row.b && row.b->time > Nanoseconds(0)
                      ? Cell(ratio_of(row.a->time, row.b->time))
                      : Cell());
  cells.push_back(totals.has_shares() ? Cell(ratio_of(row.difference(), totals.difference()))
                                      : Cell());
  cells.push_back(row.a ? count_cell(row.a->count) : Cell());
  cells.push_back(row.b ? count_cell(row.b->count) : Cell());
  cells.push_back(!row.b   ? Cell(std::string("new"))
                  : !row.a ? Cell(std::string("vanished"))
                           : Cell());
  return cells;
}

SmallTable make_diff_table(const std::vector<DiffRow>& rows, const QueryPlan& plan) {
  SmallTable table;
  for (const Column* column : plan.group_by) {
    Column key = *column;
    key.absent = "(none)";
    table.columns.push_back({key});
  }
  const std::vector<SmallTable::Shown> values = {
      {number_only_column("time_a_ns", "A", Quantity::time)},
      {number_only_column("time_b_ns", "B", Quantity::time)},
      {number_only_column("difference_ns", "A - B", Quantity::time)},
      {number_only_column("ratio", "A / B", Quantity::ratio), 1},
      {number_only_column("difference_share", "of diff.", Quantity::share), 2},
      {number_only_column("count_a", "count A", Quantity::none), 3},
      {number_only_column("count_b", "count B", Quantity::none), 4},
      {text_only_column("state", "state")}};
  table.columns.insert(table.columns.end(), values.begin(), values.end());
  table.columns.back().column.absent = "";
  const DiffTotals totals = sum_rows(rows);
  for (const DiffRow& row : rows) table.rows.push_back(make_diff_cells(row, totals));
  table.total = totals.difference();
  return table;
}

// Returns an error if an option has no meaning for a difference.
Status refuse_diff_options(const AnalysisOptions& options) {
  const std::array<std::pair<std::string_view, bool>, 5> refused = {
      {{"--columns", !options.columns.empty()},
       {"--order-by", options.order_by.has_value()},
       {"--aggregate", options.aggregate.has_value()},
       {"--peak-bandwidth", options.peak_bandwidth.has_value()},
       {"--peak-flops", options.peak_flops.has_value()}}};
  for (const auto& [option, is_given] : refused) {
    if (!is_given) continue;
    return Error{"does not apply to the difference of two profiles", std::string(option),
                 fmt::format("omit {}; rows are in the order of their differences", option)};
  }
  return Done{};
}

Status read_side(const ActivityInput& input, const WorkProvider& compute_work, DiffSide& side,
                 ReadReport& report) {
  KernelNameSink names(side);
  WorkSink work(compute_work, names);
  MeasuringKernelFilter shown(work);
  BeginRecordMerger announcements(shown);
  BENCH_ASSIGN_OR_RETURN(report, input.read(announcements));
  BENCH_RETURN_IF_ERROR(announcements.finish());
  side.finish();
  if (side.selected() > 0) return Done{};
  if (report.activities == 0) {
    return Error{"contains no activities", input.name,
                 "record them with `bench run --profile` or `bench profile`"};
  }
  return Error{side.contents().describe_empty_selection(), input.name, ""};
}

constexpr std::array<std::string_view, 4> kLevelNames = {"nothing", "ranges only", "operators only",
                                                         "primitives, kernels or copies"};

Status refuse_levels(const DiffSide& a, const DiffSide& b, const ActivityInput& of_a,
                     const ActivityInput& of_b) {
  if (a.level() == b.level()) return Done{};
  return Error{
      fmt::format("contains {}, but {} {}", kLevelNames[static_cast<std::size_t>(a.level())],
                  quote(of_b.name), kLevelNames[static_cast<std::size_t>(b.level())]),
      of_a.name, "compare what both contain with --kind, or record both in the same way"};
}

// Returns what the messages about reading both files need.
ReadReport join_reports(ReadReport a, const ReadReport& b) {
  for (const auto member : {&ReadReport::ignored, &ReadReport::malformed, &ReadReport::unknown,
                            &ReadReport::library_errors, &ReadReport::activities})
    a.*member += b.*member;
  for (const std::string& note : b.notes) a.note(note);
  return a;
}

}  // namespace
}  // namespace bench::analysis

namespace bench {

Result<AnalysisOutcome> compare_profiles(const ActivityInput& a, const ActivityInput& b,
                                         const WorkProvider& compute_work,
                                         const AnalysisOptions& options,
                                         const AnalysisTarget& target) {
  using namespace analysis;
  BENCH_RETURN_IF_ERROR(refuse_diff_options(options));
  BENCH_ASSIGN_OR_RETURN(const SmallTableStyle style, choose_style(options));
  AnalysisOptions grouped = options;
  if (grouped.aggregate_by.empty()) grouped.aggregate_by = {"type"};
  BENCH_ASSIGN_OR_RETURN(const QueryPlan plan, plan_query(grouped));
  DiffSide side_a(plan, grouped), side_b(plan, grouped);
  ReadReport report_a, report_b;
  BENCH_RETURN_IF_ERROR(read_side(a, compute_work, side_a, report_a));
  BENCH_RETURN_IF_ERROR(read_side(b, compute_work, side_b, report_b));
  BENCH_RETURN_IF_ERROR(refuse_levels(side_a, side_b, a, b));
  const bool has_iterations = side_a.has_iterations() && side_b.has_iterations();
  const DiffBasis basis = has_iterations ? DiffBasis::medians : DiffBasis::sums;
  const auto values_of = [&](DiffSide& side) {
    return has_iterations ? side.medians_per_iteration() : side.sums();
  };
  const auto values_a = values_of(side_a), values_b = values_of(side_b);
  const std::vector<DiffRow> rows = join_sides(side_a, values_a, side_b, values_b);
  const DiffTotals totals = sum_rows(rows);
  SmallTable table = make_diff_table(rows, plan);
  const std::string name_a = printable(a.name), name_b = printable(b.name);
  table.answer = describe_difference(rows, totals, plan, name_a, name_b) + ' ' +
                 describe_diff_basis(basis, side_a, side_b, name_a, name_b);
  table.notes_above.push_back(fmt::format("A: {}; B: {}", name_a, name_b));
  table.selected = static_cast<std::int64_t>(side_a.selected() + side_b.selected());
  if (!totals.has_shares() && totals.moved > Nanoseconds(0))
    table.notes_below.emplace_back(
        "Shares are left out: the differences cancel each other almost completely.");
  table.notes_below.emplace_back(
      "Two recordings differ by chance, too; `bench compare` and `bench gate` measure how much of "
      "a "
      "difference is certain.");
  AnalysisOutcome outcome;
  outcome.report = join_reports(std::move(report_a), report_b);
  BENCH_RETURN_IF_ERROR(write_small_table(table, style, target, outcome));
  return outcome;
}

}  // namespace bench
