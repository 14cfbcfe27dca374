// SPDX-License-Identifier: Apache-2.0
// Compares two measurements: how much slower or faster each case became, how certain this is, and
// what else changed. The sides were measured at different times, so a verdict does not state the
// cause of a difference. `bench duet` and `bench gate` measure both sides together. Pure functions.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/cause.hpp"
#include "harness/judge/change.hpp"
#include "harness/judge/measurement.hpp"
#include "harness/judge/program_comparison.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

BENCH_ENUM(CaseVerdict,
           // Effect: log(candidate / base).
           slower,   // effect above 0 by at least the tolerance; interval above 0
           faster,   // effect below 0 by at least the tolerance; interval below 0
           same,     // neither; interval within +-resolution, effect within a quarter of it
           unclear,  // none of these three; without an interval, all effects below kEvidentRatio
           incomparable,  // different work or measuring conditions, or the base's outcome is not ok
           failed,        // the base's outcome is ok, the candidate's is not
           removed,       // only the base has the case
           added          // only the candidate has the case
);

struct ComparedCase {
  std::string id;
  std::string group;  // as MeasuredCase::group
  CaseVerdict verdict = CaseVerdict::unclear;
  // Times in nanoseconds per iteration. If there is a ratio, they hold under equal conditions:
  // `ratio` is `candidate` / `base`. If both sides have canaries, they are times at the same speed
  // of the machine (harness/stats/equal_speed.hpp). Otherwise `base` is the median over its
  // processes, and `candidate` is `base` times the ratio. Without a ratio, they are medians.
  std::optional<double> base, candidate;
  // Without canaries, the ratio comes from the Hodges-Lehmann shift of the
  // logarithms of the processes' medians.
  std::optional<double> ratio;
  // Interval of the ratio; nullopt if a side has too few processes. Without canaries, this is the
  // exact interval over processes with coverage `confidence`, widened by the run-to-run variation.
  // Otherwise, the coverage is calibrated between runs.
  std::optional<double> low, high, confidence;
  std::optional<Nanoseconds> at_canary;  // the speed at which the times hold
  std::vector<Change> changes;           // exact properties that differ
  // Medians of the processes in nanoseconds per iteration, scaled so that their medians are `base`
  // and `candidate`.
  std::vector<double> base_processes = {}, candidate_processes = {};
  std::string reason;  // why the case is not compared or the verdict is unclear; may be empty
  // As MeasuredCase::count, of the candidate; of the base if no case of the candidate has one.
  std::optional<int> count = {};
  bool is_layer = false;  // on either side
  // What made the time change; only if it is slower or faster and both sides are results of bench.
  std::optional<CauseFinding> cause = {};
};
// Whether the verdict states in which direction the time changed.
bool has_direction(CaseVerdict verdict);

// Mean ratio of the cases of a group.
struct GroupRatio {
  std::string group;      // "conv/forward"; "all" comes last
  std::size_t cases = 0;  // number of cases with a ratio
  double ratio = 1;       // geometric mean
  // Interval of the mean, as if the errors of all cases were equal: the cases of a run share its
  // state of the machine. A case without an interval counts with the factor kEvidentRatio.
  double low = 1, high = 1;
  // slower, faster, same or unclear, as for a case; not slower or faster if no case is.
  CaseVerdict verdict = CaseVerdict::unclear;
};

// The time of a program that executes each case as often as its count says, and those without one
// once. Layers of networks are left out.
struct CountedRatio {
  std::size_t cases = 0;           // number of cases with a ratio that are not layers
  double base = 0, candidate = 0;  // sums in nanoseconds
  double ratio = 1;                // `candidate` / `base`
  // Interval, as if the errors of all cases were equal; see GroupRatio.
  double low = 1, high = 1;
  CaseVerdict verdict = CaseVerdict::unclear;  // as GroupRatio::verdict
};

struct Comparison {
  std::string base, candidate;          // names of the files
  std::vector<Change> changes;          // changes of machine, libraries, tool and configuration
  std::vector<ComparedCase> cases;      // worst first: failed, slower, removed, ..., faster
  std::vector<GroupRatio> groups;       // only groups that have cases with a ratio
  std::optional<CountedRatio> counted;  // only if a case with a ratio has a count
  std::optional<ProgramComparison> programs;  // if both sides are profiles or logs
  std::vector<std::string> warnings;          // those of both measurements
  double tolerance = 0;                       // as ComparisonOptions::tolerance
  std::size_t count(CaseVerdict verdict) const;
  // Whether any case has comparable times on both sides.
  bool has_comparable_case() const;
  // The largest change, as a fraction, that a case with the verdict `same` may have: the bound of
  // an interval that is farthest from 1. nullopt without such cases.
  std::optional<double> largest_same() const;
};

// Which machines the two sides may come from. any: also from different kinds of machines.
enum class Machines { same_kind, any };

struct ComparisonOptions {
  double tolerance = 0.01;  // fraction; smaller effects are neither `slower` nor `faster`
  double resolution = 0.1;  // fraction; the verdict `same` excludes larger effects
  double coverage = 0.95;   // minimum coverage of the exact intervals
  Machines machines = Machines::same_kind;
};

// States the times of a case with a ratio so that that of the base is `base`. The ratio stays.
void state_times_at(double base, ComparedCase& compared);

// Compares the cases of both sides by id.
Comparison compare(const Measurement& base, const Measurement& candidate,
                   const ComparisonOptions& options);

}  // namespace bench
