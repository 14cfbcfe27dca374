// SPDX-License-Identifier: Apache-2.0
// Assigns the cases of a plan to shards, which different machines measure. Every machine computes
// the assignment itself, so it is a function of inputs that all of them have: the plan, the number
// of shards, and the store of baselines. Neither the machine nor the clock counts.
#pragma once

#include "base/units.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/record.hpp"
#include "harness/result/shard_positions.hpp"
#include "harness/store/store.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Returns for each case the time of an iteration in the last stored run that has one, of any
// machine class: the latest by its start, then by the name of the machine class. A store that is
// missing or cannot be read has no times.
std::vector<std::optional<Nanoseconds>> stored_iterations(const Plan& plan,
                                                          const BaselineStore& store);

// How long a shard measures each case.
struct CaseCosts {
  std::vector<Nanoseconds> costs;  // one per case, at least 1 ns
  std::size_t stored = 0;          // number of cases with a stored time
  AssignmentRule rule = AssignmentRule::order;
};
// Estimates each case with its processes, warm-up and check. `iterations`: one per case, as
// stored_iterations() returns them.
CaseCosts estimate_costs(const Plan& plan, std::span<const std::optional<Nanoseconds>> iterations);

// The cases of all shards.
struct ShardDivision {
  // The index of its shard for each case, from 0.
  std::vector<int> shard_by_case;
  Nanoseconds total{0};    // estimated time of all cases
  Nanoseconds longest{0};  // estimated time of the shard that takes longest
};
// Assigns the longest case first, each to the shard with the least time so far; of equal ones the
// first case, and the first shard. So the longest shard takes at most 4/3 - 1/(3 shards) times as
// long as in the best assignment. Cases of equal cost are dealt in their order: every n-th case.
ShardDivision divide_longest_first(std::span<const Nanoseconds> costs, int shards);

// What one shard is to measure.
struct ShardPart {
  Shard shard;
  ShardAssignment assignment;
  std::vector<std::size_t> cases;  // indices into the plan, ascending
  std::size_t stored = 0;          // number of cases of the plan with a stored time
  // Estimated times of this shard and of the longest one; nullopt: an earlier run assigned it.
  std::optional<Nanoseconds> time = {}, longest = {};
};
// `shard`: 1 <= index <= count.
ShardPart assign_part(const CaseCosts& costs, const Shard& shard);

// Reduces the plan to these cases. Keeps the hash of the whole plan, so that the files of the
// shards belong together.
Plan select_cases(Plan plan, std::span<const std::size_t> cases);

}  // namespace bench
