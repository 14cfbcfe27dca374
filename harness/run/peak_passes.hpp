// SPDX-License-Identifier: Apache-2.0
// The order in which `bench peak` measures its ceilings within a limit of time: several passes over
// groups of cases, the most valuable group first. Each ceiling is so measured in several moments,
// of which one may be disturbed, and the end of the time costs the least valuable ones.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/report.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// What one run of some cases gave.
struct PeakPart {
  Report report;
  RunSummary summary;
};

// A pass that repeats ceilings starts only if so much time is left, which the preparation of large
// arrays needs.
inline constexpr Nanoseconds kMinPeakRepetition = std::chrono::seconds(3);

// Returns the plan in groups, the most valuable first: the fastest loops and the products, which
// limit most cases, then all others. `first`: ids of the first group. Omits empty groups.
std::vector<Plan> group_by_value(const Plan& plan, std::span<const std::string> first);

struct PeakPasses {
  std::vector<PeakPart> first;         // the first pass, a part per group that it reached
  std::vector<PeakPart> repeated;      // later passes
  std::vector<std::string> unreached;  // ids of the groups that the first pass did not reach
};
// Measures the groups in `passes` passes with `measure`, which ends at the given time. Stops if
// `limit` is used up or if the user has interrupted a part.
Result<PeakPasses> measure_in_passes(
    std::span<const Plan> groups, int passes, Nanoseconds limit,
    const std::function<Result<PeakPart>(const Plan& group, Nanoseconds limit)>& measure,
    Clock& clock);

// Returns the parts of the first pass as one. Cases that it did not reach count as not measured.
PeakPart join_first_pass(const PeakPasses& passes);

}  // namespace bench
