// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/comparison.hpp"

#include "base/text.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/quiet.hpp"
#include "harness/result/summary.hpp"
#include "harness/stats/fast_quarter.hpp"
#include "harness/stats/median.hpp"
#include "harness/stats/shift.hpp"
#include "harness/store/baseline_file.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Maximum ratio that a larger distance between the threads' processors explains
// (docs/decisions/0019).
constexpr double kMaxDistanceFactor = 2;

// Skips times of 0. Returns at most kMaxShiftSamples values.
std::vector<double> take_logarithms(const std::vector<double>& times) {
  std::vector<double> values;
  for (const double time : times) {
    if (time > 0) values.push_back(std::log(time));
  }
  if (values.size() > kMaxShiftSamples) values.resize(kMaxShiftSamples);
  return values;
}

bool has_quiet_processes(const MeasuredCase& entry) {
  return entry.quiet && entry.quiet->processes > 0;
}

// Times of the processes of both sides, in nanoseconds per iteration.
struct SideTimes {
  std::vector<double> base, candidate;
};

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

void make_incomparable(std::vector<ComparedCase>& cases, const std::string& reason) {
  for (ComparedCase& entry : cases) {
    entry.verdict = CaseVerdict::incomparable;
    entry.reason = reason;
    entry.ratio = entry.low = entry.high = entry.confidence = std::nullopt;
  }
}

std::string format_case_outcome(const MeasuredCase& entry) {
  const std::string name(to_string(entry.outcome));
  return entry.reason && !entry.reason->empty() ? name + ": " + *entry.reason : name;
}

CaseVerdict classify_effect(const ComparedCase& entry, const ComparisonOptions& options) {
  const double limit = std::log1p(options.tolerance);
  const double effect = std::log(*entry.ratio);
  const double low = std::log(*entry.low);
  const double high = std::log(*entry.high);
  if (low > 0 && effect >= limit) return CaseVerdict::slower;
  if (high < 0 && effect <= -limit) return CaseVerdict::faster;
  const double resolution = std::log1p(options.resolution);
  return std::abs(effect) < limit && low > -resolution && high < resolution ? CaseVerdict::same
                                                                            : CaseVerdict::unclear;
}

// Whether no distance between processors explains the effect.
bool exceeds_distance_factor(const ComparedCase& entry) {
  return *entry.low > kMaxDistanceFactor || *entry.high < 1 / kMaxDistanceFactor;
}

std::optional<Nanoseconds> find_join_time(const MeasuredCase& entry) {
  return entry.quiet ? entry.quiet->join : std::nullopt;
}

// Sets the verdict `unclear` if the threads' distance may explain the effect. If a host places the
// threads of a case on more distant processors, each parallel region takes some microseconds
// longer. Such a difference is not a change of the code.
void judge_thread_distance(const MeasuredCase& base, const MeasuredCase& candidate,
                           ComparedCase& result) {
  const std::optional<Nanoseconds> from = find_join_time(base), to = find_join_time(candidate);
  if (!from || !to || exceeds_distance_factor(result)) return;
  const bool is_slower = result.verdict == CaseVerdict::slower;
  const bool is_faster = result.verdict == CaseVerdict::faster;
  if (!(is_slower && is_farther(*to, *from)) && !(is_faster && is_farther(*from, *to))) {
    return;
  }
  result.verdict = CaseVerdict::unclear;
  result.reason = fmt::format(
      "the distance between the threads' processors differed: joining them took {} in the base, {} "
      "in the candidate; measure both sides together (bench duet)",
      format_time(*from), format_time(*to));
}

void set_interval(double effect, const ShiftInterval& interval, ComparedCase& result) {
  result.ratio = std::exp(effect);
  result.low = std::exp(effect - kRunsFactor * (effect - interval.low) - kRunsFloor);
  result.high = std::exp(effect + kRunsFactor * (interval.high - effect) + kRunsFloor);
  result.confidence = interval.confidence;
}

// Describes the side whose processes had too few quiet samples, so that all samples count. Returns
// nullopt if there is none.
std::optional<std::string> find_disturbed_side(const MeasuredCase& base,
                                               const MeasuredCase& candidate) {
  const auto is_disturbed = [](const MeasuredCase& entry) {
    return entry.quiet && entry.quiet->processes == 0;
  };
  const bool is_base = is_disturbed(base), is_candidate = is_disturbed(candidate);
  if (!is_base && !is_candidate) return std::nullopt;
  return is_base && is_candidate ? "both sides" : is_base ? "the base" : "the candidate";
}

// Sets the verdict `unclear` if all samples of a side count, quiet or not. Another program on its
// processors can make a case several times as long (docs/decisions/0034), so no size of an effect
// excludes it.
void judge_disturbance(const MeasuredCase& base, const MeasuredCase& candidate,
                       ComparedCase& result) {
  const auto side = find_disturbed_side(base, candidate);
  if (!side) return;
  result.verdict = CaseVerdict::unclear;
  result.reason = fmt::format(
      "{} had no quiet process, and a busy machine can make a case several times as long; measure "
      "both sides together (bench duet)",
      *side);
}

// Compares the fast quarters (harness/stats/fast_quarter.hpp). Returns false if a side has none.
bool compare_fast_quarters(const MeasuredCase& base, const MeasuredCase& candidate,
                           const ComparisonOptions& options, ComparedCase& result) {
  if (!has_quiet_processes(base) || !has_quiet_processes(candidate)) return false;
  const SideTimes times = {iteration_times(base.processes, &ProcessSummary::q25),
                           iteration_times(candidate.processes, &ProcessSummary::q25)};
  const auto from = fast_quarter(take_logarithms(times.base));
  const auto to = fast_quarter(take_logarithms(times.candidate));
  if (!from || !to) return false;
  const FastShift shift = fast_shift(*from, *to);
  result.base = std::exp(from->location);
  result.candidate = std::exp(to->location);
  result.base_processes = times.base;
  result.candidate_processes = times.candidate;
  result.ratio = std::exp(shift.effect);
  result.low = std::exp(shift.low);
  result.high = std::exp(shift.high);
  result.verdict = classify_effect(result, options);
  judge_thread_distance(base, candidate, result);
  return true;
}

void compare_times(const MeasuredCase& base, const MeasuredCase& candidate,
                   const ComparisonOptions& options, ComparedCase& result) {
  if (compare_fast_quarters(base, candidate, options, result)) return;
  result.base_processes = iteration_times(base.processes, &ProcessSummary::median);
  result.candidate_processes = iteration_times(candidate.processes, &ProcessSummary::median);
  const std::vector<double> from = take_logarithms(result.base_processes);
  const std::vector<double> to = take_logarithms(result.candidate_processes);
  const std::optional<double> effect = shift(from, to);
  if (!effect) {
    if (result.base && result.candidate && *result.base > 0) {
      result.ratio = *result.candidate / *result.base;
    }
    result.reason = "no interval: the source contains only medians";
    return;
  }
  result.ratio = std::exp(*effect);
  const auto interval = shift_interval(from, to, options.coverage);
  if (!interval) {
    result.reason = fmt::format(
        "{} and {} processes of the two sides count, which are too few for an interval of {:g} %",
        from.size(), to.size(), 100 * options.coverage);
    return;
  }
  set_interval(*effect, *interval, result);
  result.verdict = classify_effect(result, options);
  judge_thread_distance(base, candidate, result);
  judge_disturbance(base, candidate, result);
}

std::optional<std::string> find_difference_of_conditions(const MeasuredCase& base,
                                                         const MeasuredCase& candidate,
                                                         Machines machines) {
  if (machines == Machines::same_kind) {
    if (auto difference = find_machine_difference(base, candidate)) return difference;
  }
  return device_difference(base, candidate, {"in the base", "in the candidate"});
}

ComparedCase compare_case(const MeasuredCase& base, const MeasuredCase& candidate,
                          const ComparisonOptions& options) {
  ComparedCase result;
  result.id = candidate.id;
  result.group = candidate.group;
  result.base = median_iteration(base);
  result.candidate = median_iteration(candidate);
  result.changes = case_changes(base.exact, candidate.exact);
  if (candidate.outcome != Outcome::ok && base.outcome == Outcome::ok) {
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
// side's file of the case cannot be read.
ComparedCase compare_unpaired(const MeasuredCase& entry, CaseVerdict verdict,
                              const Measurement& other) {
  ComparedCase result = make_unpaired_case(entry, verdict);
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

std::vector<GroupRatio> compute_group_ratios(const std::vector<ComparedCase>& cases) {
  std::map<std::string, std::pair<double, std::size_t>> sums;  // sum of logarithms, and count
  std::pair<double, std::size_t> all;
  for (const ComparedCase& entry : cases) {
    if (!entry.ratio) continue;
    for (auto* sum : {&sums[entry.group], &all}) {
      sum->first += std::log(*entry.ratio);
      ++sum->second;
    }
  }
  std::vector<GroupRatio> ratios;
  const auto add = [&](const std::string& name, const std::pair<double, std::size_t>& sum) {
    ratios.push_back({name, sum.second, std::exp(sum.first / static_cast<double>(sum.second))});
  };
  for (const auto& [name, sum] : sums) add(name, sum);
  if (all.second > 0) add("all", all);
  return ratios;
}

}  // namespace

std::size_t Comparison::count(CaseVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(cases, verdict, &ComparedCase::verdict));
}

Comparison compare(const Measurement& base, const Measurement& candidate,
                   const ComparisonOptions& options) {
  Comparison result;
  result.base = base.name;
  result.candidate = candidate.name;
  result.tolerance = options.tolerance;
  result.changes = run_changes(base.facts, candidate.facts);
  std::erase_if(result.changes, is_missing_in_store);
  const bool has_other_data = has_other_seed(base, candidate);
  std::unordered_map<std::string, const MeasuredCase*> unmatched;
  for (const MeasuredCase& entry : base.cases) unmatched.emplace(entry.id, &entry);
  for (const MeasuredCase& entry : candidate.cases) {
    const auto found = unmatched.find(entry.id);
    if (found == unmatched.end()) {
      result.cases.push_back(compare_unpaired(entry, CaseVerdict::added, base));
      continue;
    }
    ComparedCase& compared =
        result.cases.emplace_back(compare_case(*found->second, entry, options));
    if (has_other_data) {
      std::erase_if(compared.changes,
                    [](const Change& change) { return change.field == kOutputDigestDetail; });
    }
    unmatched.erase(found);
  }
  for (const MeasuredCase& entry : base.cases) {
    if (unmatched.contains(entry.id)) {
      result.cases.push_back(compare_unpaired(entry, CaseVerdict::removed, candidate));
    }
  }
  for (const Measurement* side : {&base, &candidate}) {
    result.warnings.insert(result.warnings.end(), side->warnings.begin(), side->warnings.end());
    if (side->incomparable_reason) make_incomparable(result.cases, *side->incomparable_reason);
  }
  if (options.machines == Machines::same_kind) {
    const auto difference = find_machine_difference(base, candidate);
    if (difference) make_incomparable(result.cases, *difference);
  }
  sort_cases(result.cases);
  result.groups = compute_group_ratios(result.cases);
  return result;
}

}  // namespace bench
