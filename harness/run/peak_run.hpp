// SPDX-License-Identifier: Apache-2.0
// How `bench peak` measures its ceilings and what it makes of them. Their cases are an ordinary
// plan, which runs like any other, in several passes over groups of cases, the most valuable group
// first. Each ceiling is so measured in several moments, of which one may be disturbed, and the end
// of the time costs the least valuable ones.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/config/plan.hpp"
#include "harness/result/report.hpp"
#include "harness/run/peak_plan.hpp"
#include "harness/run/run.hpp"
#include "harness/store/peak_file.hpp"

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

// Executes a part of the plan, which ends at the given time.
using PeakRunner = std::function<Result<PeakPart>(const Plan& part, Nanoseconds limit)>;

// A pass that repeats ceilings starts only if so much time is left, which the preparation of large
// arrays needs.
inline constexpr Nanoseconds kMinPeakRepetition = std::chrono::seconds(3);

// Returns the plan in groups, the most valuable first: the fastest loops and the products, which
// limit most cases, then all others. `first`: ids of the first group. Omits empty groups.
std::vector<Plan> group_by_value(const Plan& plan, std::span<const std::string> first);

struct PeakLimits {
  // Passes over all ceilings, each with one process per ceiling. The best value of a ceiling
  // counts, because one moment may be disturbed and one placement of memory unfavourable.
  int passes = 1;
  Nanoseconds time{0};  // time limit of all passes
};

struct PeakPasses {
  std::vector<PeakPart> first;         // the first pass, a part per group that it reached
  std::vector<PeakPart> repeated;      // later passes
  std::vector<std::string> unreached;  // ids of the groups that the first pass did not reach
};
// Measures the groups in all passes. Stops if the time is used up or if the user has interrupted a
// part.
Result<PeakPasses> measure_in_passes(std::span<const Plan> groups, const PeakLimits& limits,
                                     const PeakRunner& measure, Clock& clock);

// Returns the parts of the first pass as one. Cases that it did not reach count as not measured.
PeakPart join_first_pass(const PeakPasses& passes);

// Returns the ids of both cases of each rate that all threads together reached less than one of
// them alone. The others can always be idle, so something disturbed the measurement.
std::vector<std::string> cases_slower_with_all_threads(const std::vector<PeakRecord>& records);

// Replaces each ceiling in `records` by that of the same case in `again` if that one is better.
void keep_better(const std::vector<PeakRecord>& again, std::vector<PeakRecord>& records);

// A ceiling of all threads that was measured lower than that of one thread.
struct RaisedCeiling {
  Ceiling measured;
  CeilingValue one_thread;
  friend bool operator==(const RaisedCeiling&, const RaisedCeiling&) = default;
};

// Gives such ceilings the value of one thread, and returns them.
std::vector<RaisedCeiling> raise_to_one_thread(std::vector<PeakRecord>& records);

// The ceilings of a machine, as they are stored.
struct PeakRun {
  Report report;  // report of the first pass
  RunSummary summary;
  std::vector<PeakRecord> records;
  std::vector<RaisedCeiling> raised;
  std::vector<std::string> unreached;  // ids of the cases for which no time was left
};
// Measures the ceilings of `cases`, which `plan` has as cases. `valuable`: ids of those that are
// measured first. Measures once more what was slower with all threads than with one, if there is
// time. What then still is gets the value of one thread.
Result<PeakRun> measure_peaks(const Plan& plan, const std::vector<PeakCase>& cases,
                              std::span<const std::string> valuable, const PeakLimits& limits,
                              const PeakRunner& measure, Clock& clock);

}  // namespace bench
