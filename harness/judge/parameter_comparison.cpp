// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/parameter_comparison.hpp"

#include "base/nearest_name.hpp"
#include "base/quote.hpp"
#include "base/text.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/judge/parameter_split.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace bench {
namespace {

// The parameter whose values a user ranks: which library is the fastest?
constexpr std::string_view kRankedParameter = "backend";

// Numbers come first, ascending. Words keep the order in which they appear.
void sort_values(std::vector<std::string>& values) {
  std::ranges::stable_sort(values, [](const std::string& a, const std::string& b) {
    const auto left = parse_number<std::int64_t>(a);
    const auto right = parse_number<std::int64_t>(b);
    if (left && right) return *left < *right;
    return left.has_value() && !right.has_value();
  });
}

// The cases whose ids are equal except for the parameter, by its value.
struct CaseGroup {
  std::string rest;                          // of their ids: ParameterSplit::rest
  std::map<std::string, std::size_t> cases;  // value -> index in the measurement
};

// Groups in the order of their first case. Of two cases with the same value (two backends of one
// device), the first one counts.
std::vector<CaseGroup> group_cases(const Measurement& side, const std::string& parameter) {
  std::vector<CaseGroup> groups;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < side.cases.size(); ++i) {
    const auto split = split_parameter(side.cases[i].id, parameter);
    if (!split) continue;
    const auto [place, is_new] = places.emplace(split->rest, groups.size());
    if (is_new) groups.push_back({split->rest, {}});
    groups[place->second].cases.emplace(split->value, i);
  }
  return groups;
}

// The values of cases that have a partner.
std::vector<std::string> list_values(const Measurement& side, const std::string& parameter) {
  std::vector<std::string> values;
  const std::vector<CaseGroup> groups = group_cases(side, parameter);
  const auto is_paired = [&](const std::string& rest) {
    const auto group = std::ranges::find(groups, rest, &CaseGroup::rest);
    return group != groups.end() && group->cases.size() > 1;
  };
  for (const MeasuredCase& entry : side.cases) {
    const auto split = split_parameter(entry.id, parameter);
    if (split && is_paired(split->rest) &&
        std::ranges::find(values, split->value) == values.end()) {
      values.push_back(split->value);
    }
  }
  sort_values(values);
  return values;
}

bool has_pair(const Measurement& side, const std::string& parameter) {
  return std::ranges::any_of(group_cases(side, parameter),
                             [](const CaseGroup& group) { return group.cases.size() > 1; });
}

// The parameters that at least one case has.
std::vector<std::string> all_parameters(const Measurement& side) {
  std::vector<std::string> names;
  for (const MeasuredCase& entry : side.cases) {
    for (std::string& name : list_parameters(entry.id)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

Error no_parameter(const Measurement& side, const std::string& parameter,
                   std::vector<std::string> names) {
  constexpr std::size_t kMaxListed = 12;
  const std::size_t more = names.size() - std::min(names.size(), kMaxListed);
  names.resize(names.size() - more);
  return {fmt::format("no case of {} has a parameter {}", side.name, quote(parameter)),
          "--by " + parameter,
          names.empty() ? "no case has a parameter whose name is known"
                        : fmt::format("they have: {}{}", fmt::join(names, ", "),
                                      more > 0 ? fmt::format(" and {} more", more) : "")};
}

Error no_pairs(const Measurement& side, const std::string& parameter) {
  std::vector<std::string> names = all_parameters(side);
  const bool is_known = std::ranges::any_of(side.cases, [&](const MeasuredCase& entry) {
    return split_parameter(entry.id, parameter).has_value();
  });
  if (!is_known && !side.cases.empty()) return no_parameter(side, parameter, std::move(names));
  std::erase_if(names, [&](const std::string& name) { return !has_pair(side, name); });
  return {fmt::format("no two cases of {} differ in {} alone", side.name, quote(parameter)),
          "--by " + parameter,
          names.empty() ? "measure a sweep, or compare two files"
                        : fmt::format("pairs exist for: {}", fmt::join(names, ", "))};
}

// Counted work of a case by id: FLOPs, or bytes if it has no FLOPs.
using WorkById = std::unordered_map<std::string, double>;

WorkById collect_work(const Report& report) {
  WorkById work;
  for (const CaseRecord& record : report.cases) {
    if (!record.work) continue;
    const std::int64_t flops = record.work->flops;
    work[record.id] = static_cast<double>(flops > 0 ? flops : record.work->traffic().count);
  }
  return work;
}

double work_ratio(const WorkById& work, const std::string& base, const std::string& other) {
  const auto from = work.find(base);
  const auto to = work.find(other);
  const bool is_known =
      from != work.end() && to != work.end() && from->second > 0 && to->second > 0;
  return is_known ? to->second / from->second : 1;
}

// Compares two cases as if they had one id. Clears case_hash and the exact properties, because they
// differ when the parameter differs.
ComparedCase compare_pair(const Measurement& side, MeasuredCase base, MeasuredCase candidate) {
  const std::string id = candidate.id;
  base.id = candidate.id;
  for (MeasuredCase* entry : {&base, &candidate}) {
    entry->case_hash.clear();
    entry->exact = {};
  }
  Measurement left;
  left.incomparable_reason = side.incomparable_reason;
  Measurement right = left;
  left.cases.push_back(std::move(base));
  right.cases.push_back(std::move(candidate));
  return compare(left, right, {}).cases.front();
}

// States both times at the level of speed at which the run states that of the base. All ratios of a
// group then have one base time, that of the run's table.
void state_at_level_of_run(const MeasuredCase& base, const std::optional<double>& time,
                           ComparedCase& compared) {
  if (!time || !compared.ratio) return;
  state_times_at(*time, compared);
  if (compared.at_canary && base.at) compared.at_canary = base.at->canary;
}

std::optional<MeanSpeedUp> mean_speed_up(const std::vector<ParameterGroup>& groups,
                                         std::size_t value) {
  double sum = 0, low = 0, high = 0;  // logarithms
  int count = 0;
  for (const ParameterGroup& group : groups) {
    const auto& effect = group.effects[value];
    const auto speed_up = effect ? effect->speed_up() : std::nullopt;
    if (!speed_up || *speed_up <= 0) continue;
    sum += std::log(*speed_up);
    low += std::log(effect->low().value_or(*speed_up / kEvidentRatio));
    high += std::log(effect->high().value_or(*speed_up * kEvidentRatio));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return MeanSpeedUp{std::exp(sum / count), std::exp(low / count), std::exp(high / count)};
}

std::optional<double> divided(double work, const std::optional<double>& ratio) {
  return ratio && *ratio > 0 ? std::optional(work / *ratio) : std::nullopt;
}

// Moves the values without any time to `unmeasured`.
void set_aside_unmeasured(ParameterComparison& result) {
  for (std::size_t i = result.values.size(); i-- > 0;) {
    const auto is_measured = [&](const ParameterGroup& group) {
      return group.effects[i] && group.effects[i]->compared.ratio;
    };
    if (std::ranges::any_of(result.groups, is_measured)) continue;
    UnmeasuredValue unmeasured{result.values[i], ""};
    for (const ParameterGroup& group : result.groups) {
      if (unmeasured.reason.empty() && group.effects[i])
        unmeasured.reason = group.effects[i]->compared.reason;
    }
    result.unmeasured.insert(result.unmeasured.begin(), std::move(unmeasured));
    const auto place = static_cast<std::ptrdiff_t>(i);
    result.values.erase(result.values.begin() + place);
    result.means.erase(result.means.begin() + place);
    for (ParameterGroup& group : result.groups) group.effects.erase(group.effects.begin() + place);
  }
}

// The times of one case by all values, relative to that of the first value; nullopt if one lacks.
std::optional<std::vector<double>> relative_times(const ParameterGroup& group) {
  std::vector<double> times = {1};
  for (const auto& effect : group.effects) {
    if (!effect || !effect->compared.ratio) return std::nullopt;
    times.push_back(*effect->compared.ratio);
  }
  return times;
}

// Compares two values of one case: the speed-up of `faster` against `slower`.
ParameterEffect compare_values(const Measurement& side, const ParameterGroup& group,
                               std::size_t faster, std::size_t slower) {
  const auto find_case = [&](std::size_t value) -> const MeasuredCase& {
    const std::string& id = value == 0 ? group.base_id : group.effects[value - 1]->compared.id;
    return *std::ranges::find(side.cases, id, &MeasuredCase::id);
  };
  return {compare_pair(side, find_case(slower), find_case(faster)), 1};
}

// The ranks of the values of one case or of their means, the fastest first.
std::vector<std::size_t> order_by(const std::vector<double>& times) {
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t value) { return times[value]; });
  return order;
}

// Ranks the values over the cases that all of them measured.
void rank_values(const Measurement& side, ParameterComparison& result) {
  const bool has_any = std::ranges::any_of(
      result.means, [](const std::optional<MeanSpeedUp>& mean) { return mean.has_value(); });
  if (!has_any) return;
  set_aside_unmeasured(result);
  std::vector<double> sums(result.values.size() + 1, 0);  // of logarithms
  std::vector<std::size_t> wins(sums.size(), 0);
  std::vector<const ParameterGroup*> counted;
  ValueRanking ranking;
  for (const ParameterGroup& group : result.groups) {
    const auto times = relative_times(group);
    if (!times) continue;
    counted.push_back(&group);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += std::log((*times)[i]);
    const std::vector<std::size_t> order = order_by(*times);
    const ParameterEffect lead = compare_values(side, group, order[0], order[1]);
    const bool is_certain =
        lead.low() ? *lead.low() > 1 : lead.speed_up().value_or(1) > kEvidentRatio;
    ++(is_certain ? wins[order[0]] : ranking.ties);
  }
  if (counted.empty()) return;
  ranking.cases = counted.size();
  const auto count = static_cast<double>(counted.size());
  const std::vector<std::size_t> order = order_by(sums);
  for (const std::size_t value : order) {
    ranking.places.push_back({value == 0 ? result.against : result.values[value - 1],
                              std::exp((sums[value] - sums[order[0]]) / count), wins[value]});
  }
  std::vector<ParameterGroup> leads;
  for (const ParameterGroup* group : counted)
    leads.push_back(
        {group->base_id, group->base, {compare_values(side, *group, order[0], order[1])}});
  if (const auto lead = mean_speed_up(leads, 0)) ranking.lead = *lead;
  result.ranking = std::move(ranking);
}

bool has_time(const Measurement& side, const std::string& parameter, const std::string& value) {
  return std::ranges::any_of(side.cases, [&](const MeasuredCase& entry) {
    if (!median_iteration(entry)) return false;
    const auto split = split_parameter(entry.id, parameter);
    return split && split->value == value;
  });
}

// Removes `against` from `values` and returns it; without `against`, the first value with a time.
// Returns an error if `values` does not contain `against`.
Result<std::string> choose_base(std::vector<std::string>& values, const Measurement& side,
                                const std::string& parameter,
                                const std::optional<std::string>& against) {
  if (!against) {
    auto first = std::ranges::find_if(
        values, [&](const std::string& value) { return has_time(side, parameter, value); });
    if (first == values.end()) first = values.begin();
    std::string value = std::move(*first);
    values.erase(first);
    return value;
  }
  const auto found = std::ranges::find(values, *against);
  if (found == values.end()) {
    const std::vector<std::string_view> names(values.begin(), values.end());
    return Error{fmt::format("no case has the value {} of {}", quote(*against), quote(parameter)),
                 "--against " + *against, expectation(*against, names)};
  }
  values.erase(found);
  return *against;
}

}  // namespace

std::optional<double> ParameterEffect::speed_up() const {
  return divided(work_ratio, compared.ratio);
}
std::optional<double> ParameterEffect::low() const { return divided(work_ratio, compared.high); }
std::optional<double> ParameterEffect::high() const { return divided(work_ratio, compared.low); }

Result<ParameterComparison> compare_by(const Report& report, const std::string& name,
                                       const std::string& parameter,
                                       const std::optional<std::string>& against) {
  const Measurement side = make_measurement(report, name);
  if (!has_pair(side, parameter)) return no_pairs(side, parameter);
  ParameterComparison result;
  result.name = name;
  if (!report.runs.empty()) result.run = report.runs.back();
  result.parameter = parameter;
  result.values = list_values(side, parameter);
  BENCH_ASSIGN_OR_RETURN(result.against, choose_base(result.values, side, parameter, against));
  const WorkById work = changes_work(parameter) ? collect_work(report) : WorkById();
  for (const CaseGroup& group : group_cases(side, parameter)) {
    const auto base = group.cases.find(result.against);
    if (base == group.cases.end() || group.cases.size() < 2) {
      result.unpaired += group.cases.size();
      continue;
    }
    const MeasuredCase& first = side.cases[base->second];
    ParameterGroup& row = result.groups.emplace_back();
    row.base_id = first.id;
    row.base = median_iteration(first);
    for (const std::string& value : result.values) {
      const auto found = group.cases.find(value);
      auto& effect = row.effects.emplace_back();
      if (found == group.cases.end()) continue;
      const MeasuredCase& other = side.cases[found->second];
      effect =
          ParameterEffect{compare_pair(side, first, other), work_ratio(work, first.id, other.id)};
      state_at_level_of_run(first, row.base, effect->compared);
      if (effect->work_ratio != 1) result.is_work_equal = false;
    }
  }
  if (result.groups.empty()) return no_pairs(side, parameter);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.means.push_back(mean_speed_up(result.groups, i));
  }
  if (parameter == kRankedParameter) rank_values(side, result);
  return result;
}

}  // namespace bench
