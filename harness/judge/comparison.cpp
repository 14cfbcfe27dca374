// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/comparison.hpp"

#include "base/text.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/summary.hpp"
#include "harness/stats/equal_speed.hpp"
#include "harness/stats/shift.hpp"
#include "harness/stats/summary.hpp"
#include "harness/store/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

constexpr const char* kSeedFact = "config.seed";  // seed of the input data

// Factor by which intervals over processes are widened. All processes of a run share one state of
// the machine, so runs differ by more than their processes do. With this factor, 0.9 % of equal
// single-threaded cases get the verdict slower or faster; without it, 5.6 % (docs/decisions/0019).
constexpr double kRunsFactor = 2;

// Minimum number of processes of a side for an interval at equal speed: fewer do not show how
// processes differ.
constexpr std::int64_t kMinComparedProcesses = 3;
// The verdict `same` permits an effect of this part of the resolution.
constexpr double kSameFraction = 4;
// Run-to-run variation of the median, as a fraction. The processes of one run do not show it,
// because they share one state of the machine (docs/decisions/0019).
constexpr double kRunsFloor = 0.003;

// Skips times of 0. Returns at most kMaxShiftSamples values.
std::vector<double> take_logarithms(const std::vector<double>& times) {
  std::vector<double> values;
  for (const double time : times) {
    if (time > 0) values.push_back(std::log(time));
  }
  if (values.size() > kMaxShiftSamples) values.resize(kMaxShiftSamples);
  return values;
}

// Whether the sides used different input data. Their outputs then differ, so the digests of the
// outputs are not comparable.
bool has_other_seed(const Measurement& base, const Measurement& candidate) {
  const auto from = base.facts.find(kSeedFact);
  const auto to = candidate.facts.find(kSeedFact);
  return from != base.facts.end() && to != candidate.facts.end() && from->second != to->second;
}

// Whether only one side knows this fact of the configuration, because the other one is a store. A
// store contains cases, not configurations.
bool is_missing_in_store(const Change& change) {
  return (change.field.starts_with("config.") || change.field == "convention") &&
         (!change.from || !change.to);
}

std::string format_difference(const std::string& field, const std::string& from,
                              const std::string& to) {
  return fmt::format("{} differs: {} and {}; --across-machines compares them anyway", field, from,
                     to);
}

// Returns the run of the case if both sides are the same one and at least one side is a store.
std::optional<std::string> find_same_run(const Measurement& base, const Measurement& candidate,
                                         const std::string& id) {
  for (const auto& [side, other] : {std::pair(&base, &candidate), {&candidate, &base}}) {
    const auto run = side->stored_runs.find(id);
    if (run == side->stored_runs.end()) continue;
    const auto same = other->stored_runs.find(id);
    if (other->run_ids.contains(run->second) ||
        (same != other->stored_runs.end() && same->second == run->second))
      return run->second;
  }
  return std::nullopt;
}

// Describes the first required fact of a side that differs on the other side. Returns nullopt if
// there is none.
std::optional<std::string> find_machine_difference(const Measurement& base,
                                                   const Measurement& candidate) {
  const auto value = [](const Measurement& side, const std::string& field) {
    const auto found = side.facts.find(field);
    return found == side.facts.end() ? std::string(kUnknown) : found->second;
  };
  for (const Measurement* side : {&base, &candidate}) {
    for (const std::string& field : side->required_facts) {
      const std::string from = value(base, field);
      const std::string to = value(candidate, field);
      if (from != to) return format_difference(field, from, to);
    }
  }
  return std::nullopt;
}

// Describes the first fact in MeasuredCase::machine that both sides have and that differs. Returns
// nullopt if there is none.
std::optional<std::string> find_machine_difference(const MeasuredCase& base,
                                                   const MeasuredCase& candidate) {
  for (const auto& [field, from] : base.machine) {
    const auto to = candidate.machine.find(field);
    if (to != candidate.machine.end() && from != to->second) {
      return format_difference(field, from, to->second);
    }
  }
  return std::nullopt;
}

// Returns why no times of the two measurements are comparable; nullopt if they are.
std::optional<std::string> find_common_obstacle(const Measurement& base,
                                                const Measurement& candidate, Machines machines) {
  if (machines == Machines::same_kind) {
    if (auto difference = find_machine_difference(base, candidate)) return difference;
  }
  return candidate.incomparable_reason ? candidate.incomparable_reason : base.incomparable_reason;
}

std::string format_case_outcome(const MeasuredCase& entry) {
  const std::string name(to_string(entry.outcome));
  return entry.reason && !entry.reason->empty() ? name + ": " + *entry.reason : name;
}

// The arguments are ratios.
CaseVerdict classify_effect(double ratio, double low_ratio, double high_ratio,
                            const ComparisonOptions& options) {
  const double limit = std::log1p(options.tolerance);
  const double effect = std::log(ratio);
  const double low = std::log(low_ratio);
  const double high = std::log(high_ratio);
  if (low > 0 && effect >= limit) return CaseVerdict::slower;
  if (high < 0 && effect <= -limit) return CaseVerdict::faster;
  const double resolution = std::log1p(options.resolution);
  const double same = std::log1p(options.resolution / kSameFraction);
  return std::abs(effect) < same && low > -resolution && high < resolution ? CaseVerdict::same
                                                                           : CaseVerdict::unclear;
}

// Sets the verdict of a case that has a ratio but no interval, and the reason.
void classify_without_interval(std::string reason, ComparedCase& result) {
  result.reason = std::move(reason);
  if (!result.ratio || !is_evident_ratio(*result.ratio)) return;
  result.verdict = *result.ratio > 1 ? CaseVerdict::slower : CaseVerdict::faster;
  result.reason += fmt::format("; equal runs do not differ by a factor of {:g}", kEvidentRatio);
}

void set_interval(double effect, const ShiftInterval& interval, ComparedCase& result) {
  result.ratio = std::exp(effect);
  result.low = std::exp(effect - kRunsFactor * (effect - interval.low) - kRunsFloor);
  result.high = std::exp(effect + kRunsFactor * (interval.high - effect) + kRunsFloor);
  result.confidence = interval.confidence;
}

const SpeedCell& find_usual_cell(const TimesBySpeed& times) {
  return *std::ranges::max_element(times.cells, {}, &SpeedCell::samples);
}

// Explains why the two sides have no speed in common. Empty if they have one.
std::string explain_other_speed(const EqualSpeedFit& fit, const TimesBySpeed& base,
                                const TimesBySpeed& candidate) {
  constexpr std::string_view kRemedy = "measure both sides together (bench duet)";
  if (fit.share_speed(0, 1)) return "";
  const SpeedCell& from = find_usual_cell(base);
  const SpeedCell& to = find_usual_cell(candidate);
  if (from.join && to.join && !fit.runs_beside(0)[1]) {
    return fmt::format(
        "the distance between the threads' processors differed: joining them took {} in the base, "
        "{} in the candidate; {}",
        format_time(*from.join), format_time(*to.join), kRemedy);
  }
  return fmt::format(
      "the machine never had the same speed for both sides: its canary took {} in the base, {} in "
      "the candidate; {}",
      format_time(from.canary), format_time(to.canary), kRemedy);
}

// Returns the times, scaled so that `time` is their median.
std::vector<double> scale_to(std::vector<double> times, double time) {
  const double middle = median(times).value_or(0);
  if (!(middle > 0)) return times;
  for (double& value : times) value *= time / middle;
  return times;
}

std::string explain_few_processes(std::int64_t base, std::int64_t candidate, double coverage) {
  return fmt::format(
      "{} and {} processes of the two sides count, which are too few for an interval of {:g} %",
      base, candidate, 100 * coverage);
}

void compare_at_equal_speed(const MeasuredCase& base, const MeasuredCase& candidate,
                            const ComparisonOptions& options, ComparedCase& result) {
  const std::array<TimesBySpeed, 2> sides = {*base.by_speed, *candidate.by_speed};
  const EqualSpeedFit fit(sides);
  const LogEstimate shift = fit.difference(0, 1);
  result.base = std::exp(fit.levels().front());
  result.at_canary = fit.usual_canary();
  result.base_processes = iteration_times(base.processes, &ProcessSummary::median);
  result.candidate_processes = iteration_times(candidate.processes, &ProcessSummary::median);
  result.ratio = std::exp(shift.value);
  state_times_at(*result.base, result);
  result.reason = explain_other_speed(fit, sides.front(), sides.back());
  if (std::min(sides.front().processes, sides.back().processes) < kMinComparedProcesses) {
    classify_without_interval(
        explain_few_processes(sides.front().processes, sides.back().processes, kEqualSpeedCoverage),
        result);
    return;
  }
  result.low = std::exp(shift.value - shift.half_width());
  result.high = std::exp(shift.value + shift.half_width());
  result.confidence = kEqualSpeedCoverage;
  result.verdict = classify_effect(*result.ratio, *result.low, *result.high, options);
}

// Returns why a case that both sides have has no ratio: a time is unknown or 0.
std::string explain_missing_time(const ComparedCase& compared) {
  if (!compared.base && !compared.candidate) return "neither side has a time above 0";
  return fmt::format("the {} has no time above 0", compared.base ? "candidate" : "base");
}

void compare_times(const MeasuredCase& base, const MeasuredCase& candidate,
                   const ComparisonOptions& options, ComparedCase& result) {
  if (base.by_speed && candidate.by_speed) {
    compare_at_equal_speed(base, candidate, options, result);
    return;
  }
  result.base_processes = iteration_times(base.processes, &ProcessSummary::median);
  result.candidate_processes = iteration_times(candidate.processes, &ProcessSummary::median);
  const std::vector<double> from = take_logarithms(result.base_processes);
  const std::vector<double> to = take_logarithms(result.candidate_processes);
  const std::optional<double> effect = shift(from, to);
  if (!effect) {
    if (result.base && result.candidate && *result.base > 0) {
      result.ratio = *result.candidate / *result.base;
    }
    classify_without_interval(result.ratio ? "no interval: the source contains only medians"
                                           : explain_missing_time(result),
                              result);
    return;
  }
  result.ratio = std::exp(*effect);
  if (result.base) state_times_at(*result.base, result);
  const auto interval = shift_interval(from, to, options.coverage);
  if (!interval) {
    classify_without_interval(
        explain_few_processes(std::ssize(from), std::ssize(to), options.coverage), result);
    return;
  }
  set_interval(*effect, *interval, result);
  result.verdict = classify_effect(*result.ratio, *result.low, *result.high, options);
}

std::optional<std::string> find_difference_of_conditions(const MeasuredCase& base,
                                                         const MeasuredCase& candidate,
                                                         Machines machines) {
  if (machines == Machines::same_kind) {
    if (auto difference = find_machine_difference(base, candidate)) return difference;
  }
  return device_difference(base, candidate, {"in the base", "in the candidate"});
}

// `obstacle`: why no times of the two measurements are comparable; nullopt if they are.
ComparedCase compare_case(const MeasuredCase& base, const MeasuredCase& candidate,
                          const std::optional<std::string>& obstacle,
                          const ComparisonOptions& options) {
  ComparedCase result;
  result.id = candidate.id;
  result.group = candidate.group;
  result.count = candidate.count;
  result.is_layer = base.is_layer || candidate.is_layer;
  result.base = median_iteration(base);
  result.candidate = median_iteration(candidate);
  result.changes = case_changes(base.exact, candidate.exact);
  if (obstacle) {
    result.verdict = CaseVerdict::incomparable;
    result.reason = *obstacle;
  } else if (candidate.outcome != Outcome::ok && base.outcome == Outcome::ok) {
    result.verdict = CaseVerdict::failed;
    result.reason = format_case_outcome(candidate);
  } else if (base.outcome != Outcome::ok || candidate.outcome != Outcome::ok) {
    result.verdict = CaseVerdict::incomparable;
    result.reason = "base " + format_case_outcome(base);
  } else if (!base.case_hash.empty() && !candidate.case_hash.empty() &&
             base.case_hash != candidate.case_hash) {
    result.verdict = CaseVerdict::incomparable;
    result.reason = fmt::format("case_hash differs: {} and {} compute different things",
                                base.case_hash, candidate.case_hash);
  } else if (const auto difference =
                 find_difference_of_conditions(base, candidate, options.machines)) {
    result.verdict = CaseVerdict::incomparable;
    result.reason = *difference;
  } else {
    compare_times(base, candidate, options, result);
  }
  return result;
}

ComparedCase make_unpaired_case(const MeasuredCase& entry, CaseVerdict verdict) {
  ComparedCase result;
  result.id = entry.id;
  result.group = entry.group;
  result.verdict = verdict;
  (verdict == CaseVerdict::removed ? result.base : result.candidate) = median_iteration(entry);
  if (entry.outcome != Outcome::ok) result.reason = format_case_outcome(entry);
  return result;
}

// Returns the result for a case that only one side has: `verdict`, or `incomparable` if the other
// side's file of the case cannot be read, or there is an `obstacle` to every comparison.
ComparedCase compare_unpaired(const MeasuredCase& entry, CaseVerdict verdict,
                              const Measurement& other,
                              const std::optional<std::string>& obstacle) {
  ComparedCase result = make_unpaired_case(entry, verdict);
  if (obstacle) {
    result.verdict = CaseVerdict::incomparable;
    result.reason = *obstacle;
    return result;
  }
  const auto unreadable = other.unreadable.find(store_file_name(entry.id));
  if (unreadable == other.unreadable.end()) return result;
  result.verdict = CaseVerdict::incomparable;
  result.reason = unreadable->second;
  return result;
}

// Returns the rank of the verdict in the reading order of a report.
int reading_rank(CaseVerdict verdict) {
  constexpr std::array<CaseVerdict, 8> kOrder = {
      CaseVerdict::failed, CaseVerdict::slower,       CaseVerdict::removed, CaseVerdict::unclear,
      CaseVerdict::same,   CaseVerdict::incomparable, CaseVerdict::added,   CaseVerdict::faster};
  return static_cast<int>(std::ranges::find(kOrder, verdict) - kOrder.begin());
}

void sort_cases(std::vector<ComparedCase>& cases) {
  std::stable_sort(cases.begin(), cases.end(), [](const ComparedCase& a, const ComparedCase& b) {
    if (reading_rank(a.verdict) != reading_rank(b.verdict))
      return reading_rank(a.verdict) < reading_rank(b.verdict);
    return a.ratio.value_or(0) > b.ratio.value_or(0);
  });
}

// Returns the verdict of a mean of these cases. A mean of undecided cases decides nothing.
CaseVerdict classify_mean(double ratio, double low, double high,
                          std::span<const ComparedCase* const> cases,
                          const ComparisonOptions& options) {
  const CaseVerdict verdict = classify_effect(ratio, low, high, options);
  const bool is_supported = std::ranges::any_of(
      cases, [&](const ComparedCase* entry) { return entry->verdict == verdict; });
  return has_direction(verdict) && !is_supported ? CaseVerdict::unclear : verdict;
}

// Returns the mean of the cases, which must not be empty and must have ratios.
GroupRatio mean_ratio(std::string name, std::span<const ComparedCase* const> cases,
                      const ComparisonOptions& options) {
  double ratio = 0, low = 0, high = 0;  // sums of logarithms
  for (const ComparedCase* entry : cases) {
    const double value = std::log(*entry->ratio);
    const double unknown = std::log(kEvidentRatio);
    ratio += value;
    low += entry->low ? std::log(*entry->low) : value - unknown;
    high += entry->high ? std::log(*entry->high) : value + unknown;
  }
  const auto mean = [&](double sum) { return std::exp(sum / static_cast<double>(cases.size())); };
  GroupRatio result{std::move(name), cases.size(), mean(ratio),
                    mean(low),       mean(high),   CaseVerdict::unclear};
  result.verdict = classify_mean(result.ratio, result.low, result.high, cases, options);
  return result;
}

// Sums the times of the cases with a ratio, as often as they count: a case without a count once,
// layers never.
std::optional<CountedRatio> compute_counted_ratio(const std::vector<ComparedCase>& cases,
                                                  const ComparisonOptions& options) {
  const auto is_counted = [](const ComparedCase& entry) {
    return entry.ratio && entry.base && entry.count && !entry.is_layer;
  };
  if (std::ranges::none_of(cases, is_counted)) return std::nullopt;
  std::vector<const ComparedCase*> counted;
  CountedRatio sum;
  double low = 0, high = 0;
  for (const ComparedCase& entry : cases) {
    if (!entry.ratio || !entry.base || entry.is_layer) continue;
    counted.push_back(&entry);
    const double base = *entry.base * entry.count.value_or(1);
    sum.base += base;
    sum.candidate += base * *entry.ratio;
    low += base * entry.low.value_or(*entry.ratio / kEvidentRatio);
    high += base * entry.high.value_or(*entry.ratio * kEvidentRatio);
  }
  if (!(sum.base > 0)) return std::nullopt;
  sum.cases = counted.size();
  sum.ratio = sum.candidate / sum.base;
  sum.low = low / sum.base;
  sum.high = high / sum.base;
  sum.verdict = classify_mean(sum.ratio, sum.low, sum.high, counted, options);
  return sum;
}

std::vector<GroupRatio> compute_group_ratios(const std::vector<ComparedCase>& cases,
                                             const ComparisonOptions& options) {
  std::map<std::string, std::vector<const ComparedCase*>> groups;
  std::vector<const ComparedCase*> all;
  for (const ComparedCase& entry : cases) {
    if (!entry.ratio) continue;
    groups[entry.group].push_back(&entry);
    all.push_back(&entry);
  }
  std::vector<GroupRatio> ratios;
  for (const auto& [name, members] : groups) ratios.push_back(mean_ratio(name, members, options));
  if (!all.empty()) ratios.push_back(mean_ratio("all", all, options));
  return ratios;
}

}  // namespace

bool has_direction(CaseVerdict verdict) {
  return verdict == CaseVerdict::slower || verdict == CaseVerdict::faster;
}

void state_times_at(double base, ComparedCase& compared) {
  compared.base = base;
  compared.candidate = base * *compared.ratio;
  compared.base_processes = scale_to(std::move(compared.base_processes), *compared.base);
  compared.candidate_processes =
      scale_to(std::move(compared.candidate_processes), *compared.candidate);
}

std::size_t Comparison::count(CaseVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cases, verdict, &ComparedCase::verdict));
}

bool Comparison::has_comparable_case() const {
  return std::ranges::any_of(cases,
                             [](const ComparedCase& entry) { return entry.ratio.has_value(); });
}

std::optional<double> Comparison::largest_same() const {
  std::optional<double> largest;
  for (const ComparedCase& entry : cases) {
    if (entry.verdict != CaseVerdict::same) continue;
    largest = std::max(largest.value_or(0), std::max(*entry.high - 1, 1 - *entry.low));
  }
  return largest;
}

namespace {

std::optional<CauseFinding> find_cause(const Measurement& base, const Measurement& candidate,
                                       const MeasuredCase& before, const MeasuredCase& after,
                                       const ComparedCase& compared) {
  const bool has_moved =
      compared.verdict == CaseVerdict::slower || compared.verdict == CaseVerdict::faster;
  const bool are_own =
      base.facts.contains("tool.version") && candidate.facts.contains("tool.version");
  if (!has_moved || !are_own) return std::nullopt;
  MoveContext context;
  context.certainty = compared.low ? "its interval excludes 0" : "no two equal runs differ so much";
  context.canary = canary_shift(before.by_speed, after.by_speed);
  return judge_cause(find_cause_facts(with_case_facts(base.facts, before),
                                      with_case_facts(candidate.facts, after)),
                     std::move(context));
}

}  // namespace

Comparison compare(const Measurement& base, const Measurement& candidate,
                   const ComparisonOptions& options) {
  Comparison result;
  result.base = base.name;
  result.candidate = candidate.name;
  result.tolerance = options.tolerance;
  // A side without facts, such as a store without another run, does not show what changed.
  if (!base.facts.empty() && !candidate.facts.empty())
    result.changes = run_changes(base.facts, candidate.facts);
  std::erase_if(result.changes, is_missing_in_store);
  const bool has_other_data = has_other_seed(base, candidate);
  const auto obstacle = find_common_obstacle(base, candidate, options.machines);
  const bool has_counts = std::ranges::any_of(
      candidate.cases, [](const MeasuredCase& entry) { return entry.count.has_value(); });
  std::unordered_map<std::string, const MeasuredCase*> unmatched;
  for (const MeasuredCase& entry : base.cases) unmatched.emplace(entry.id, &entry);
  for (const MeasuredCase& entry : candidate.cases) {
    const auto found = unmatched.find(entry.id);
    if (found == unmatched.end()) {
      result.cases.push_back(compare_unpaired(entry, CaseVerdict::added, base, obstacle));
      continue;
    }
    auto case_obstacle = obstacle;
    if (const auto run = find_same_run(base, candidate, entry.id); run && !obstacle)
      case_obstacle = fmt::format("both sides are run {}", *run);
    ComparedCase& compared =
        result.cases.emplace_back(compare_case(*found->second, entry, case_obstacle, options));
    if (!has_counts) compared.count = found->second->count;
    compared.cause = find_cause(base, candidate, *found->second, entry, compared);
    if (has_other_data) {
      std::erase_if(compared.changes,
                    [](const Change& change) { return change.field == kOutputDigestDetail; });
    }
    unmatched.erase(found);
  }
  for (const MeasuredCase& entry : base.cases) {
    if (unmatched.contains(entry.id)) {
      result.cases.push_back(compare_unpaired(entry, CaseVerdict::removed, candidate, obstacle));
    }
  }
  if (base.program && candidate.program)
    result.programs = compare_programs(*base.program, *candidate.program);
  for (const Measurement* side : {&base, &candidate})
    result.warnings.insert(result.warnings.end(), side->warnings.begin(), side->warnings.end());
  sort_cases(result.cases);
  result.groups = compute_group_ratios(result.cases, options);
  result.counted = compute_counted_ratio(result.cases, options);
  return result;
}

}  // namespace bench
