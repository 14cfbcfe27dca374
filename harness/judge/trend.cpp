// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/trend.hpp"

#include "base/text.hpp"
#include "harness/judge/cause.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/stats/change_points.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/error_control.hpp"
#include "harness/stats/summary.hpp"
#include "harness/store/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace bench {
namespace {

// Level of a single test, however many changes there are.
constexpr double kMaxLevel = 0.01;
// 7! = 5040 orders: with fewer runs even an ascending series is not below kCreepLevel.
constexpr std::size_t kMinCreepRuns = 7;
constexpr double kCreepLevel = 0.001;
// A case creeps if changes below the tolerance have added up to this many tolerances.
constexpr double kCreepFactor = 2;
// Runs that may still wait for a change point, and how many run-to-run sigmas make them clear.
constexpr std::size_t kMaxPendingRuns = 5;
constexpr double kPendingSigmas = 4;
// Fewer runs show the variation beside a change too badly.
constexpr std::size_t kMinPendingSeries = 5;
// An evident change is larger than this in run-to-run sigmas and in tolerances. In 1,000 runs, a
// machine that is sometimes disturbed does not reach both by chance.
constexpr double kEvidentSigmas = 10;
constexpr double kEvidentFactor = 5;
// So many runs in a row are not all disturbed by chance, even if one of so many earlier runs was.
constexpr std::size_t kMinRunsAfterDisturbed = 3;
constexpr std::size_t kRunsPerDisturbed = 8;

double median_time(const BaselineRecord& record) {
  return std::log(*median_iteration(record.measured));
}

// Decides run by run what is comparable, and finds the times of the comparable runs. Each step
// looks only at the runs that the steps before it left, and leaves at least one.
class Admission {
 public:
  explicit Admission(const BaselineHistory& history)
      : history_(history), last_(measured_case(*history.last())) {
    reasons_.resize(history.records.size());
    log_times_.resize(history.records.size());
    for_admitted([&](std::size_t i) {
      reasons_[i] = other_conditions(history_.records[i]);
      if (!reasons_[i]) log_times_[i] = median_time(history_.records[i]);
    });
    choose_basis();
    if (basis_ == TrendBasis::equal_speed) compare_at_equal_speed();
  }
  TrendBasis basis() const { return basis_; }
  // Why run number `index` is not comparable; nullopt if it is.
  const std::optional<std::string>& reason(std::size_t index) const { return reasons_[index]; }
  double log_time(std::size_t index) const { return log_times_[index]; }

 private:
  template <class Visit>
  void for_admitted(Visit visit) {
    for (std::size_t i = 0; i < reasons_.size(); ++i) {
      if (!reasons_[i]) visit(i);
    }
  }

  std::optional<std::string> other_conditions(const BaselineRecord& record) const {
    if (record.measured.case_hash != last_.case_hash)
      return fmt::format("case_hash differs: {}, last run {}; they compute different things",
                         record.measured.case_hash, last_.case_hash);
    return device_difference(measured_case(record), last_, {"in this run", "in the last run"});
  }

  // A few runs of an older version must not change what represents all others.
  void choose_basis() {
    std::size_t runs = 0, with_canaries = 0;
    for_admitted([&](std::size_t i) {
      ++runs;
      with_canaries += history_.records[i].measured.by_speed ? 1 : 0;
    });
    basis_ = 2 * with_canaries >= runs ? TrendBasis::equal_speed : TrendBasis::median;
  }

  void compare_at_equal_speed() {
    std::vector<std::size_t> indices;
    std::vector<TimesBySpeed> times;
    for_admitted([&](std::size_t i) {
      const auto& by_speed = history_.records[i].measured.by_speed;
      if (!by_speed) {
        reasons_[i] = "it has no canaries, which show the machine's speed";
        return;
      }
      indices.push_back(i);
      times.push_back(*by_speed);
    });
    const EqualSpeedFit fit(times);
    const std::vector<double> levels = fit.levels();
    const std::vector<bool> is_usual = find_usual_runs(fit, times.size());
    for (std::size_t k = 0; k < times.size(); ++k) {
      log_times_[indices[k]] = levels[k];
      if (is_usual[k]) continue;
      const std::optional<Nanoseconds> join = times[k].cells.front().join;
      reasons_[indices[k]] = fmt::format(
          "its threads' processors were at another distance than usual: joining them took {}",
          join ? format_time(*join) : std::string(kUnknown));
    }
  }

  // Returns the largest group of runs whose threads were equally far apart at times.
  static std::vector<bool> find_usual_runs(const EqualSpeedFit& fit, std::size_t runs) {
    std::vector<bool> usual;
    std::ptrdiff_t most = 0;
    for (std::size_t run = runs; run-- > 0;) {
      std::vector<bool> beside = fit.runs_beside(run);
      const auto count = std::ranges::count(beside, true);
      if (count <= most) continue;
      most = count;
      usual = std::move(beside);
    }
    return usual;
  }

  const BaselineHistory& history_;
  MeasuredCase last_;
  TrendBasis basis_ = TrendBasis::median;
  std::vector<std::optional<std::string>> reasons_;  // one per run
  std::vector<double> log_times_;                    // one per run
};

TrendRun trend_run(const BaselineHistory& history, std::size_t number) {
  const BaselineRecord& record = history.records[number];
  const auto detail = [&](const char* name) {
    const auto found = record.environment.details.find(name);
    return found == record.environment.details.end() ? std::string() : found->second;
  };
  return {record.run_id,
          record.time,
          record.commit,
          record.reason,
          record.anchor,
          record.epoch,
          number,
          detail(kProgramPathFact),
          detail(kProgramDigestFact)};
}

void add_point(CaseTrend& trend, TrendRun run, double log_time) {
  TrendPoint point{std::move(run), log_time, std::nullopt};
  if (trend.epochs.empty() || trend.epochs.back().number != point.run.epoch) {
    trend.epochs.push_back({point.run.epoch, trend.points.size(), 0});
  } else {
    point.effect = point.log_time - trend.points.back().log_time;
  }
  ++trend.epochs.back().runs;
  trend.points.push_back(std::move(point));
}

// A trend while its changes are searched; `records` are those of the points.
struct Search {
  CaseTrend trend;
  std::vector<const BaselineRecord*> records;
  std::optional<double> between_processes;  // between_process_sigma() of the records
  // One per epoch; nullopt if it is too short.
  std::vector<std::optional<ChangePoint>> strongest;
};

std::optional<double> compute_spread(const CaseTrend& trend) {
  std::vector<double> differences;
  for (const TrendPoint& point : trend.points) {
    if (point.effect) differences.push_back(*point.effect);
  }
  return between_run_sigma(differences);
}

// The values of an epoch that are searched.
struct Window {
  std::size_t first = 0;  // index of the first one
  std::vector<double> values;
};
Window make_window(const CaseTrend& trend, std::size_t begin, std::size_t end) {
  Window window{end - std::min(end - begin, kMaxSeries), {}};
  for (std::size_t i = window.first; i < end; ++i)
    window.values.push_back(trend.points[i].log_time);
  return window;
}
Window make_window(const CaseTrend& trend, const TrendEpoch& epoch) {
  return make_window(trend, epoch.first, epoch.first + epoch.runs);
}

Search start_search(const BaselineHistory& history) {
  const Admission admission(history);
  Search search;
  CaseTrend& trend = search.trend;
  trend.id = history.last()->measured.id;
  trend.machine_class = history.last()->environment.machine_class;
  trend.path = history.path;
  trend.basis = admission.basis();
  trend.problems = history.problems;
  for (std::size_t i = 0; i < history.records.size(); ++i) {
    if (const auto& reason = admission.reason(i)) {
      trend.skipped.push_back({trend_run(history, i), *reason});
      continue;
    }
    add_point(trend, trend_run(history, i), admission.log_time(i));
    search.records.push_back(&history.records[i]);
  }
  trend.spread = compute_spread(trend);
  search.between_processes = between_process_sigma(history.records);
  for (const TrendEpoch& epoch : trend.epochs) {
    const auto strongest = strongest_change(make_window(trend, epoch).values, {});
    search.strongest.push_back(strongest);
    trend.is_searched |= strongest.has_value();
  }
  return search;
}

// The level at which each test is made, so that the false discovery rate over all epochs of all
// cases stays below the limit; 0 if there is no change at all. Within a series with a change, its
// parts are tested at the same level (Yekutieli, J. Am. Stat. Assoc. 103, 2008).
double common_level(const std::vector<Search>& searches, double false_discovery) {
  std::vector<double> family;
  for (const Search& search : searches) {
    for (const std::optional<ChangePoint>& strongest : search.strongest) {
      if (strongest) family.push_back(strongest->p_value);
    }
  }
  if (family.empty()) return 0;
  const auto rejected = std::ranges::count_if(
      adjusted_p_values(family), [&](double adjusted) { return adjusted <= false_discovery; });
  const double level =
      false_discovery * static_cast<double>(rejected) / static_cast<double>(family.size());
  return std::min(level, kMaxLevel);
}

// Returns the rank of a difference: what usually changes a time comes first.
std::size_t rank_of(const Change& change) {
  constexpr std::array<std::string_view, 3> kLikelyCauses = {"implementation", kVariableDetail,
                                                             "library."};
  const auto found = std::ranges::find_if(
      kLikelyCauses, [&](std::string_view prefix) { return change.field.starts_with(prefix); });
  return static_cast<std::size_t>(found - kLikelyCauses.begin());
}

std::vector<Change> differences_between(const BaselineRecord& from, const BaselineRecord& to) {
  std::vector<Change> changes = case_changes(from.measured.exact, to.measured.exact);
  std::ranges::move(
      run_changes(environment_facts(from.environment), environment_facts(to.environment)),
      std::back_inserter(changes));
  std::ranges::stable_sort(changes, {}, rank_of);
  return changes;
}

void find_changes(Search& search, std::size_t number, const SegmentationOptions& options) {
  CaseTrend& trend = search.trend;
  const Window window = make_window(trend, trend.epochs[number]);
  const std::vector<ChangePoint> found =
      change_points(window.values, search.strongest[number], options);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : found[i - 1].index;
    const std::size_t end = i + 1 == found.size() ? window.values.size() : found[i + 1].index;
    const auto around = std::span(window.values).subspan(begin, end - begin);
    const auto kind = is_gradual(around, found[i].index - begin) ? TrendChange::Kind::gradual
                                                                 : TrendChange::Kind::step;
    const std::size_t point = window.first + found[i].index;
    trend.changes.push_back(
        {kind, point, found[i].effect, found[i].p_value,
         differences_between(*search.records[point - 1], *search.records[point])});
  }
}

double median_between(const CaseTrend& trend, std::size_t begin, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = begin; i < end; ++i) values.push_back(trend.points[i].log_time);
  return *median(values);
}

void add_accepted_changes(Search& search) {
  CaseTrend& trend = search.trend;
  std::vector<TrendChange> accepted;
  for (std::size_t i = 1; i < trend.epochs.size(); ++i) {
    const std::size_t point = trend.epochs[i].first;
    const CaseTrend::Range before = trend.level_around(point - 1);
    const CaseTrend::Range after = trend.level_around(point);
    accepted.push_back({TrendChange::Kind::accepted, point,
                        median_between(trend, after.begin, after.end) -
                            median_between(trend, before.begin, before.end),
                        std::nullopt,
                        differences_between(*search.records[point - 1], *search.records[point])});
  }
  std::ranges::move(accepted, std::back_inserter(trend.changes));
  std::ranges::sort(trend.changes, {}, &TrendChange::point);
}

std::optional<Creep> creep_since(const CaseTrend& trend, std::size_t point, double tolerance) {
  const std::size_t end = trend.points.size();
  if (end - point < kMinCreepRuns) return std::nullopt;
  const bool has_step = std::ranges::any_of(trend.changes, [&](const TrendChange& change) {
    return change.kind == TrendChange::Kind::step && change.point > point;
  });
  if (has_step) return std::nullopt;
  const double effect = trend.present_level() - median_between(trend, point, point + kMinLevelRuns);
  if (effect < std::log1p(kCreepFactor * tolerance)) return std::nullopt;
  const Window window = make_window(trend, point, end);
  if (upward_trend_p_value(window.values, {}) > kCreepLevel) return std::nullopt;
  return Creep{point, effect, end - 1 - point};
}

void find_creep(CaseTrend& trend, double tolerance) {
  const TrendEpoch& present = trend.epochs.back();
  for (std::size_t i = present.first; i < trend.points.size(); ++i) {
    if (i != present.first && !trend.points[i].run.anchor) continue;
    if (const auto creep = creep_since(trend, i, tolerance)) trend.creeps.push_back(*creep);
  }
  // Someone chose an anchor as what to compare with; the first run is one by chance.
  std::ranges::stable_sort(trend.creeps, {}, [&](const Creep& creep) {
    return std::pair(!trend.points[creep.since].run.anchor.has_value(), -creep.effect);
  });
}

// How far the values before `index` and those from it on lie apart; not above 0 if they overlap.
// Ignores the `disturbed` earlier values that are nearest to the later ones.
double gap_at(std::span<const double> values, std::size_t index, std::size_t disturbed = 0) {
  std::vector<double> earlier(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index));
  std::ranges::sort(earlier);
  const auto [last_low, last_high] = std::ranges::minmax(values.subspan(index));
  return std::max(last_low - earlier[index - 1 - disturbed], earlier[disturbed] - last_high);
}

// How many of the earlier runs may be as far away as those from `index` on.
std::size_t permitted_disturbed(std::span<const double> values, std::size_t index) {
  return values.size() - index < kMinRunsAfterDisturbed ? 0 : index / kRunsPerDisturbed;
}

// The standard deviation of a run about the level of its part, if the values change at `index`.
// nullopt if neither part has two values.
std::optional<double> spread_beside(std::span<const double> values, std::size_t index) {
  double squares = 0;
  std::size_t differences = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (i == index) continue;
    squares += (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
    ++differences;
  }
  if (differences == 0) return std::nullopt;
  return std::sqrt(squares / static_cast<double>(2 * differences));
}

// The variation of runs that a change at `index` must exceed. In an epoch that is too short for a
// change point, it is that beside the change.
std::optional<double> variation_between_runs(const CaseTrend& trend, std::span<const double> values,
                                             std::size_t index) {
  return trend.is_searched ? trend.spread : spread_beside(values, index);
}

// Returns the change at `index` if it is evident. Needs no minimum number of runs: the variation
// that both sides show decides, with one run each that between processes, and in any case what
// equal runs never differ by.
std::optional<PendingChange> evident_change(const Search& search, const Window& window,
                                            std::size_t index, double tolerance) {
  const std::span<const double> values = window.values;
  PendingChange change;
  change.runs = values.size() - index;
  change.certainty = PendingChange::Certainty::evident;
  change.effect = *median(values.last(change.runs)) - *median(values.first(index));
  const std::optional<double> between_runs = variation_between_runs(search.trend, values, index);
  const std::optional<double> sigma = between_runs ? between_runs : search.between_processes;
  // A single run may be one that something disturbed.
  const double factor = change.runs == 1 ? 2 : 1;
  double limit = std::log(kEvidentRatio);
  if (sigma) {
    const double by_variation =
        factor * std::max(std::log1p(kEvidentFactor * tolerance), kEvidentSigmas * *sigma);
    limit = std::min(limit, by_variation);
  }
  const double size = std::abs(change.effect);
  const std::size_t disturbed = permitted_disturbed(values, index);
  if (size < limit || gap_at(values, index, disturbed) < limit / 2) return std::nullopt;
  if (between_runs && *between_runs > 0) change.sigmas = size / *between_runs;
  return change;
}

// Returns the change of the last runs by some sigmas, if there is one.
std::optional<PendingChange> possible_change(const CaseTrend& trend, const Window& window,
                                             double tolerance) {
  const std::span<const double> values = window.values;
  if (!trend.is_searched && values.size() < kMinPendingSeries) return std::nullopt;
  // A short series may have one run before the change: what lies beside it shows the variation.
  const std::size_t min_earlier = trend.is_searched ? kMinLevelRuns : 1;
  std::optional<PendingChange> found;
  double largest_gap = 0;
  for (std::size_t runs = 1; runs <= kMaxPendingRuns && runs + min_earlier <= values.size();
       ++runs) {
    const std::size_t index = values.size() - runs;
    const std::optional<double> sigma = variation_between_runs(trend, values, index);
    if (!sigma) continue;
    const double limit = std::max(std::log1p(kCreepFactor * tolerance), kPendingSigmas * *sigma);
    const double effect = *median(values.last(runs)) - *median(values.first(index));
    const double gap = gap_at(values, index);
    if (std::abs(effect) < limit || gap <= largest_gap) continue;
    found = PendingChange{runs, effect, PendingChange::Certainty::possible, std::nullopt, {}};
    if (*sigma > 0) found->sigmas = std::abs(effect) / *sigma;
    largest_gap = gap;
  }
  return found;
}

Facts facts_of(const BaselineRecord& record) {
  return with_case_facts(stored_facts(record), record.measured);
}

// Returns how often facts of each kind changed between successive runs of one level.
std::map<CauseKind, std::size_t> count_uneventful(const Search& search) {
  const CaseTrend& trend = search.trend;
  const std::size_t end = trend.points.size();
  std::map<CauseKind, std::size_t> counts;
  for (std::size_t i = trend.first_searched() + 1; i < end; ++i) {
    const bool is_eventful =
        trend.level_around(i).begin == i || (trend.pending && end - trend.pending->runs == i);
    if (is_eventful) continue;
    std::set<CauseKind> kinds;
    for (const Change& change :
         find_cause_facts(facts_of(*search.records[i - 1]), facts_of(*search.records[i])).changes)
      kinds.insert(*kind_of_fact(change.field));
    for (const CauseKind kind : kinds) ++counts[kind];
  }
  return counts;
}

// Judges why the times changed, once all changes are known.
void find_causes(Search& search) {
  CaseTrend& trend = search.trend;
  if (trend.changes.empty() && !trend.pending && trend.creeps.empty()) return;
  MoveContext context;
  context.uneventful = count_uneventful(search);
  const auto judge = [&](std::size_t from, std::size_t to, std::optional<std::string> certainty) {
    const BaselineRecord &before = *search.records[from], &after = *search.records[to];
    context.certainty = std::move(certainty);
    context.canary = canary_shift(before.measured.by_speed, after.measured.by_speed);
    return judge_cause(find_cause_facts(facts_of(before), facts_of(after)), context);
  };
  for (TrendChange& change : trend.changes) {
    if (change.kind == TrendChange::Kind::accepted) continue;
    change.cause = judge(change.point - 1, change.point,
                         fmt::format("p = {:.2g}", change.p_value.value_or(0)));
  }
  for (Creep& creep : trend.creeps) {
    creep.cause = judge(creep.since, trend.points.size() - 1, "the times rise steadily");
  }
  if (!trend.pending) return;
  const std::size_t point = trend.points.size() - trend.pending->runs;
  const bool is_evident = trend.pending->certainty == PendingChange::Certainty::evident;
  trend.pending->cause = judge(
      point - 1, point,
      is_evident ? std::optional<std::string>("it is far beyond the variation") : std::nullopt);
}

void find_pending(Search& search, double tolerance) {
  CaseTrend& trend = search.trend;
  const CaseTrend::Range present = trend.level_around(trend.points.size() - 1);
  const Window window = make_window(trend, present.begin, present.end);
  double largest_gap = 0;
  for (std::size_t index = 1; index < window.values.size(); ++index) {
    auto change = evident_change(search, window, index, tolerance);
    if (!change) continue;
    const double gap = gap_at(window.values, index, permitted_disturbed(window.values, index));
    if (gap <= largest_gap) continue;
    trend.pending = std::move(change);
    largest_gap = gap;
  }
  if (!trend.pending && trend.creeps.empty())
    trend.pending = possible_change(trend, window, tolerance);
  if (!trend.pending) return;
  const std::size_t point = trend.points.size() - trend.pending->runs;
  trend.pending->with = differences_between(*search.records[point - 1], *search.records[point]);
}

}  // namespace

CaseTrend::Range CaseTrend::level_around(std::size_t point) const {
  Range range{0, points.size()};
  const auto cut = [&](std::size_t border) {
    if (border <= point) range.begin = std::max(range.begin, border);
    if (border > point) range.end = std::min(range.end, border);
  };
  for (const TrendEpoch& epoch : epochs) cut(epoch.first);
  for (const TrendChange& change : changes) cut(change.point);
  return range;
}

double CaseTrend::level_near(std::size_t point) const {
  const Range level = level_around(point);
  const std::size_t last = level.end - std::min(level.end - level.begin, kMinLevelRuns);
  const std::size_t begin = std::clamp(point - std::min<std::size_t>(point, 1), level.begin, last);
  return median_between(*this, begin, std::min(begin + kMinLevelRuns, level.end));
}

std::size_t TrendEpoch::first_searched() const { return first + runs - std::min(runs, kMaxSeries); }

std::size_t CaseTrend::unsearched() const {
  std::size_t count = 0;
  for (const TrendEpoch& epoch : epochs) count += epoch.first_searched() - epoch.first;
  return count;
}

const TrendChange* CaseTrend::present_change() const {
  if (changes.empty() || changes.back().kind == TrendChange::Kind::accepted) return nullptr;
  return changes.back().point > epochs.back().first ? &changes.back() : nullptr;
}

std::vector<CaseTrend> compute_trends(std::span<const BaselineHistory> histories,
                                      const TrendOptions& options) {
  std::vector<Search> searches;
  for (const BaselineHistory& history : histories) {
    if (history.last() != nullptr) searches.push_back(start_search(history));
  }
  SegmentationOptions segmentation;
  segmentation.level = common_level(searches, options.false_discovery);
  segmentation.min_effect = std::log1p(options.tolerance);
  std::vector<CaseTrend> trends;
  for (Search& search : searches) {
    for (std::size_t i = 0; i < search.strongest.size(); ++i) find_changes(search, i, segmentation);
    add_accepted_changes(search);
    find_creep(search.trend, options.tolerance);
    find_pending(search, options.tolerance);
    find_causes(search);
    trends.push_back(std::move(search.trend));
  }
  return trends;
}

}  // namespace bench
