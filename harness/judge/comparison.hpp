// SPDX-License-Identifier: Apache-2.0
// Compares two measurements: how much slower or faster each case became, how certain that is, and
// what else changed. The sides were measured at different times, so a verdict states what was
// measured, not why. `bench duet` and `bench gate` measure both sides together. Pure functions.
#pragma once

#include "harness/judge/change.hpp"
#include "harness/judge/measurement.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class CaseVerdict {
  slower,        // by at least the tolerance, and the interval lies above 0
  faster,        // by at least the tolerance, and the interval lies below 0
  same,          // by less than the tolerance, and the interval lies within +-resolution
  unclear,       // the interval allows no other verdict
  incomparable,  // different work or measuring conditions, or the base has no time
  failed,        // the base has a time, but the candidate failed
  removed,       // only the base has the case
  added,
};
inline constexpr std::array<std::string_view, 8> kCaseVerdictNames = {
    "slower", "faster", "same", "unclear", "incomparable", "failed", "removed", "added"};

struct ComparedCase {
  std::string id;
  std::string group;
  CaseVerdict verdict = CaseVerdict::unclear;
  // Nanoseconds: lower quartiles over processes if both sides have quiet samples
  // (harness/stats/fast_quarter.hpp), otherwise medians.
  std::optional<double> base, candidate;
  // Candidate / base. If `base` and `candidate` are medians, the ratio comes from the
  // Hodges-Lehmann shift of the logarithms of the processes' medians.
  std::optional<double> ratio;
  // Interval of the ratio; nullopt if a side has too few processes. If `base` and `candidate` are
  // medians, this is the exact interval over processes with `confidence`, widened by the run-to-run
  // variation.
  std::optional<double> low, high, confidence;
  std::vector<Change> changes;
  // Lower quartiles or medians of the processes behind `base` and `candidate`, in nanoseconds per
  // iteration.
  std::vector<double> base_processes = {}, candidate_processes = {};
  std::string reason;  // why the case is not compared or the verdict is unclear; may be empty
};

struct GroupRatio {
  std::string group;  // "conv/forward"; "all" comes last
  std::size_t cases = 0;
  double ratio = 1;  // geometric mean
};

struct Comparison {
  std::string base, candidate;        // names of the files
  std::vector<Change> changes;        // of machine, libraries, tool, configuration
  std::vector<ComparedCase> cases;    // worst first: failed, slower, removed, ..., faster
  std::vector<GroupRatio> groups;     // over the cases with a ratio
  std::vector<std::string> warnings;  // from both sides
  double tolerance = 0;               // smaller effects did not count
  std::size_t count(CaseVerdict verdict) const;
};

enum class Machines { same_kind, any };  // any: compare times of different machine classes, too

struct ComparisonOptions {
  double tolerance = 0.01;   // smaller effects do not count
  double resolution = 0.03;  // the verdict `same` excludes larger effects
  double coverage = 0.95;    // minimum coverage of the intervals
  Machines machines = Machines::same_kind;
};

Comparison compare(const Measurement& base, const Measurement& candidate,
                   const ComparisonOptions& options);

}  // namespace bench
