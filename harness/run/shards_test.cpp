// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shards.hpp"

#include "base/random.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>

namespace bench {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;

std::vector<Nanoseconds> random_costs(SplitMix& random, std::size_t count) {
  std::vector<Nanoseconds> costs;
  for (std::size_t i = 0; i < count; ++i)
    costs.emplace_back(static_cast<std::int64_t>(1 + random.next() % 20));
  return costs;
}

// The longest shard of the best of all assignments.
Nanoseconds best_longest(std::span<const Nanoseconds> costs, std::vector<Nanoseconds>& loads) {
  if (costs.empty()) return *std::ranges::max_element(loads);
  Nanoseconds best = Nanoseconds::max();
  for (Nanoseconds& load : loads) {
    load += costs.front();
    best = std::min(best, best_longest(costs.subspan(1), loads));
    load -= costs.front();
    if (load == Nanoseconds(0)) break;  // the other empty shards are equal
  }
  return best;
}

TEST(DivideLongestFirst, TheLongestShardIsWithinTheBoundOfTheBest) {
  SplitMix random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int shards = 2 + trial % 3;
    const auto costs = random_costs(random, 1 + trial % 8);
    std::vector<Nanoseconds> loads(static_cast<std::size_t>(shards));
    const std::int64_t best = best_longest(costs, loads).count();
    const std::int64_t longest = divide_longest_first(costs, shards).longest.count();
    EXPECT_GE(longest, best);
    EXPECT_LE(3 * shards * longest, (4 * shards - 1) * best);  // 4/3 - 1/(3 shards), as integers
  }
}

TEST(DivideLongestFirst, ManyCasesAreBalancedToTheLongestOne) {
  SplitMix random(2);
  const auto costs = random_costs(random, 5'000);
  const ShardDivision division = divide_longest_first(costs, 96);
  const Nanoseconds mean = division.total / 96;
  EXPECT_LE(division.longest, mean + *std::ranges::max_element(costs));
}

TEST(DivideLongestFirst, DependsOnItsArgumentsAlone) {
  SplitMix random(3);
  const auto costs = random_costs(random, 300);
  EXPECT_EQ(divide_longest_first(costs, 7).shard_by_case,
            divide_longest_first(costs, 7).shard_by_case);
  // Equal costs are in the order of the cases, and equal shards in their order.
  EXPECT_THAT(
      divide_longest_first(std::vector<Nanoseconds>{5ns, 9ns, 5ns, 5ns, 1ns}, 2).shard_by_case,
      ElementsAre(1, 0, 1, 0, 1));
}

TEST(DivideLongestFirst, EqualCasesAreDealtInTheirOrder) {
  const std::vector<Nanoseconds> costs(7, 3ns);
  EXPECT_THAT(divide_longest_first(costs, 3).shard_by_case, ElementsAre(0, 1, 2, 0, 1, 2, 0));
}

TEST(DivideLongestFirst, MoreShardsThanCasesTakeNoMemory) {
  const std::vector<Nanoseconds> costs(2, 3ns);
  EXPECT_THAT(divide_longest_first(costs, 2'000'000'000).shard_by_case, ElementsAre(0, 1));
  EXPECT_EQ(divide_longest_first({}, 5).longest, 0ns);
}

TEST(AssignPart, PartsMakeTheWhole) {
  SplitMix random(4);
  const CaseCosts costs{random_costs(random, 50), 0, AssignmentRule::estimated};
  std::multiset<std::size_t> all;
  for (int index = 1; index <= 4; ++index) {
    const ShardPart part = assign_part(costs, {index, 4});
    EXPECT_EQ(part.assignment.plan_cases, 50);
    EXPECT_EQ(parse_positions(part.assignment.positions, 50), part.cases);
    EXPECT_LE(*part.time, *part.longest);
    all.insert(part.cases.begin(), part.cases.end());
  }
  std::multiset<std::size_t> whole;
  for (std::size_t i = 0; i < 50; ++i) whole.insert(i);
  EXPECT_EQ(all, whole);
  EXPECT_TRUE(assign_part(costs, {60, 60}).cases.empty());
}

Plan plan_of(std::size_t cases) {
  Plan plan;
  plan.hash = "h";
  for (std::size_t i = 0; i < cases; ++i) {
    Case spec;
    spec.id = "case" + std::to_string(i);
    plan.cases.push_back(std::move(spec));
  }
  return plan;
}

TEST(EstimateCosts, SaysWhatTheAssignmentIsBasedOn) {
  const Plan plan = plan_of(3);
  std::vector<std::optional<Nanoseconds>> times(3);
  // Cases without work differ in nothing.
  EXPECT_EQ(estimate_costs(plan, times).rule, AssignmentRule::order);
  times[1] = 10ms;
  const CaseCosts costs = estimate_costs(plan, times);
  EXPECT_EQ(costs.rule, AssignmentRule::stored);
  EXPECT_EQ(costs.stored, 1U);
  EXPECT_GT(costs.costs[1], costs.costs[0]);
  Plan other = plan;
  other.cases[2].measure.processes = 50;
  EXPECT_EQ(estimate_costs(other, std::vector<std::optional<Nanoseconds>>(3)).rule,
            AssignmentRule::estimated);
}

TEST(EstimateCosts, AnAbsurdStoredTimeIsLimited) {
  const Plan plan = plan_of(3);
  const std::vector<std::optional<Nanoseconds>> times(3, Nanoseconds::max());
  EXPECT_THAT(estimate_costs(plan, times).costs, Each(testing::Le(Nanoseconds(24h))));
}

TEST(StoredIterations, AMissingStoreHasNoTimes) {
  EXPECT_THAT(stored_iterations(plan_of(2), BaselineStore("/nonexistent")), Each(std::nullopt));
}

TEST(SelectCases, KeepsTheHashOfTheWholePlan) {
  const Plan part = select_cases(plan_of(4), std::vector<std::size_t>{1, 3});
  ASSERT_EQ(part.cases.size(), 2U);
  EXPECT_EQ(part.cases[1].id, "case3");
  EXPECT_EQ(part.hash, "h");
}

}  // namespace
}  // namespace bench
