// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shards.hpp"

#include "harness/result/measured.hpp"
#include "harness/run/run_estimate.hpp"
#include "harness/store/baseline_file.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

namespace bench {
namespace {

// Limit that keeps sums of many cases in range. No measurement of a case takes longer.
constexpr Nanoseconds kMaxCaseCost = std::chrono::hours(24);

// A time of a stored run, and what orders it among those of other machine classes.
using StoredTime = std::tuple<std::string, std::string, Nanoseconds>;

// Returns the last run of a file that has a time.
std::optional<StoredTime> find_last_time(const BaselineStore& store, const StoreFile& file) {
  const auto history = store.read(file);
  if (!history.ok()) return std::nullopt;
  for (auto run = history->records.rbegin(); run != history->records.rend(); ++run) {
    const auto median = median_iteration(run->measured);
    if (!median) continue;
    return StoredTime(run->time, file.folder_name,
                      std::chrono::round<Nanoseconds>(FractionalNanoseconds(*median)));
  }
  return std::nullopt;
}

Nanoseconds estimate_case(const Case& spec, std::optional<Nanoseconds> iteration) {
  const Nanoseconds process = std::min(estimate_process(spec, iteration).total(), kMaxCaseCost);
  const int processes = std::max(spec.measure.processes, 1);
  if (process > kMaxCaseCost / processes) return kMaxCaseCost;
  return std::clamp(processes * process + estimate_check(spec), Nanoseconds(1), kMaxCaseCost);
}

}  // namespace

std::vector<std::optional<Nanoseconds>> stored_iterations(const Plan& plan,
                                                          const BaselineStore& store) {
  std::vector<std::optional<Nanoseconds>> times(plan.cases.size());
  const auto files = store.list();
  if (!files.ok()) return times;
  std::map<std::string, std::vector<const StoreFile*>> by_name;
  for (const StoreFile& file : *files) by_name[file.file_name].push_back(&file);
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    const auto found = by_name.find(store_file_name(plan.cases[i].id));
    if (found == by_name.end()) continue;
    std::optional<StoredTime> last;
    for (const StoreFile* file : found->second) last = std::max(last, find_last_time(store, *file));
    if (last) times[i] = std::get<Nanoseconds>(*last);
  }
  return times;
}

CaseCosts estimate_costs(const Plan& plan, std::span<const std::optional<Nanoseconds>> iterations) {
  assert(iterations.size() == plan.cases.size());
  CaseCosts result;
  for (std::size_t i = 0; i < plan.cases.size(); ++i) {
    result.costs.push_back(estimate_case(plan.cases[i], iterations[i]));
    result.stored += iterations[i] ? 1 : 0;
  }
  const bool all_equal =
      std::ranges::adjacent_find(result.costs, std::not_equal_to{}) == result.costs.end();
  if (all_equal) {
    result.rule = AssignmentRule::order;
  } else {
    result.rule = result.stored > 0 ? AssignmentRule::stored : AssignmentRule::estimated;
  }
  return result;
}

ShardDivision divide_longest_first(std::span<const Nanoseconds> costs, int shards) {
  assert(shards >= 1);
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return costs[i]; });
  using Load = std::pair<Nanoseconds, int>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  // Further shards get no case.
  const auto used = std::min(static_cast<std::size_t>(shards), costs.size());
  for (std::size_t shard = 0; shard < used; ++shard)
    loads.emplace(Nanoseconds(0), static_cast<int>(shard));
  ShardDivision division{std::vector<int>(costs.size()), Nanoseconds(0), Nanoseconds(0)};
  for (const std::size_t i : order) {
    auto [load, shard] = loads.top();
    loads.pop();
    load += costs[i];
    division.shard_by_case[i] = shard;
    division.total += costs[i];
    division.longest = std::max(division.longest, load);
    loads.emplace(load, shard);
  }
  return division;
}

ShardPart assign_part(const CaseCosts& costs, const Shard& shard) {
  assert(shard.index >= 1 && shard.index <= shard.count);
  const ShardDivision division = divide_longest_first(costs.costs, shard.count);
  ShardPart part{
      shard,           {std::ssize(costs.costs), "", costs.rule}, {}, costs.stored, Nanoseconds(0),
      division.longest};
  for (std::size_t i = 0; i < costs.costs.size(); ++i) {
    if (division.shard_by_case[i] != shard.index - 1) continue;
    part.cases.push_back(i);
    *part.time += costs.costs[i];
  }
  part.assignment.positions = format_positions(part.cases);
  return part;
}

Plan select_cases(Plan plan, std::span<const std::size_t> cases) {
  std::vector<Case> selected;
  for (const std::size_t i : cases) selected.push_back(std::move(plan.cases[i]));
  plan.cases = std::move(selected);
  return plan;
}

}  // namespace bench
