// SPDX-License-Identifier: Apache-2.0
// Two measurements side by side: how much slower or faster each case became, how sure that is, and
// what else changed. Measured apart in time, so a verdict here says what was measured, not why:
// `bench duet` and `bench gate` measure both sides together. Pure functions.
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
  faster,        // the mirror image
  same,          // the interval lies within the tolerance
  unclear,       // anything else: the interval says neither
  incomparable,  // other work, or times that must not be compared
  failed,        // on the right side alone
  removed,       // on the left side alone
  added,
};
inline constexpr std::array<std::string_view, 8> kCaseVerdictNames = {
    "slower", "faster", "same", "unclear", "incomparable", "failed", "removed", "added"};

struct ComparedCase {
  std::string id;
  std::string group;
  CaseVerdict verdict = CaseVerdict::unclear;
  std::optional<double> base, candidate;  // medians in nanoseconds
  // Candidate / base, from the Hodges-Lehmann shift of the logarithms of process medians.
  std::optional<double> ratio;
  // Its interval: the exact one over processes, with `confidence`, and what runs differ by beyond
  // their processes; absent where a side has too few of them.
  std::optional<double> low, high, confidence;
  std::vector<Change> changes;
  std::string reason;  // why not compared, or why the verdict is not clear; may be empty
};

struct GroupRatio {
  std::string group;  // "conv/forward"; "all" stands last
  std::size_t cases = 0;
  double ratio = 1;  // geometric mean
};

struct Comparison {
  std::string base, candidate;        // names of the files
  std::vector<Change> changes;        // of machine, libraries, tool, configuration
  std::vector<ComparedCase> cases;    // worst first: slower, failed, removed, ..., faster
  std::vector<GroupRatio> groups;     // of the cases with a ratio
  std::vector<std::string> warnings;  // of both sides
  std::size_t count(CaseVerdict verdict) const;
};

enum class Machines { same_kind, any };  // any: times of different machine classes are compared

struct ComparisonOptions {
  double tolerance = 0.01;  // smaller effects are none
  double coverage = 0.95;   // of the intervals, at least
  Machines machines = Machines::same_kind;
};

Comparison compare(const Measurement& base, const Measurement& candidate,
                   const ComparisonOptions& options);

}  // namespace bench
