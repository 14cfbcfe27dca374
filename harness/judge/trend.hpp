// SPDX-License-Identifier: Apache-2.0
// How the stored runs of a case developed: change points, creep, and runs that cannot be compared.
// The runs were measured at different times, so a change point states what was measured, not why.
// Pure functions; docs/history.md describes the rules. All times are logarithms of nanoseconds per
// iteration, so differences ("effects") are fractions; positive effects are slower.
#pragma once

#include "base/enumerators.hpp"
#include "harness/judge/cause.hpp"
#include "harness/judge/change.hpp"
#include "harness/store/baseline_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// What represents a run.
BENCH_ENUM(TrendBasis,
           equal_speed,  // its level at equal speed of the machine (harness/stats/equal_speed.hpp)
           median        // median of its processes' medians
);

struct TrendRun {
  std::string run_id, time, commit, reason;
  std::optional<std::string> anchor;
  std::int64_t epoch = 0;
  std::size_t number = 0;  // position in the history
  // The file of the program and its digest_file(); empty in older records.
  std::string program = {}, program_digest = {};
};

struct TrendPoint {
  TrendRun run;
  double log_time = 0;
  // Against the previous point of the epoch; nullopt for the first one.
  std::optional<double> effect;
};

// A stored run that is not comparable with the last one.
struct SkippedRun {
  TrendRun run;
  std::string reason;
};

// The runs of one epoch: points [first, first + runs). Only the last kMaxSeries of them, from
// first_searched() on, are searched (harness/stats/change_points.hpp).
struct TrendEpoch {
  std::int64_t number = 0;
  std::size_t first = 0;
  std::size_t runs = 0;
  std::size_t first_searched() const;
};

// A new level of time.
struct TrendChange {
  BENCH_MEMBER_ENUM(Kind, step,  // the time changed between two runs
                    gradual,     // a straight line fits the runs around it better than two levels
                    accepted     // someone opened an epoch
  );
  Kind kind = Kind::step;
  std::size_t point = 0;          // first run of the new level
  double effect = 0;              // difference between the medians of the two levels
  std::optional<double> p_value;  // nullopt for an accepted change
  std::vector<Change> with;       // what else differs between this run and the one before
  std::optional<CauseFinding> cause = std::nullopt;  // nullopt for an accepted change
};

// Small changes that add up without a step.
struct Creep {
  std::size_t since = 0;  // the point: an anchor, or the first run of the present epoch
  double effect = 0;      // from its level to the present level; at least twice the tolerance
  std::size_t runs = 0;   // number of runs after it
  // What made the time differ between that run and the last one.
  std::optional<CauseFinding> cause = std::nullopt;
};

// The last runs differ clearly from those before, but they are too few for a change point.
struct PendingChange {
  BENCH_MEMBER_ENUM(Certainty, possible,  // by some run-to-run sigmas, as bad luck may do
                    evident               // by so many that only the size is uncertain
  );
  std::size_t runs = 0;
  double effect = 0;
  Certainty certainty = Certainty::possible;
  // Effect / run-to-run variation; nullopt if no two runs show the variation.
  std::optional<double> sigmas = std::nullopt;
  // What else differs between the first of these runs and the one before
  std::vector<Change> with = {};
  std::optional<CauseFinding> cause = std::nullopt;
};

struct CaseTrend {
  std::string id;
  std::string machine_class;
  std::string path;  // the file of the store
  TrendBasis basis = TrendBasis::median;
  std::vector<TrendPoint> points;  // the comparable runs, as in the history; never empty
  std::vector<SkippedRun> skipped;
  std::vector<TrendEpoch> epochs;    // those with points
  std::vector<TrendChange> changes;  // by point
  std::vector<Creep> creeps;         // since anchors first, then the largest first
  std::optional<PendingChange> pending;
  std::optional<double> spread;       // run-to-run variation: sigma between runs
  bool is_searched = false;           // whether any epoch has enough runs for a change point
  std::vector<std::string> problems;  // lines of the file that were not read

  // Half-open range of the points that share a level with this one.
  struct Range {
    std::size_t begin = 0, end = 0;
  };
  Range level_around(std::size_t point) const;
  // Median over the up to three runs of a level that are nearest to the point.
  double level_near(std::size_t point) const;
  double present_level() const { return level_near(points.size() - 1); }
  // The detected change at which the present level begins; nullptr if an epoch begins it, or none.
  const TrendChange* present_change() const;
  // The number of points that are not searched because their epoch has too many.
  std::size_t unsearched() const;
  // The first point that is searched, and after which all are.
  std::size_t first_searched() const { return epochs.back().first_searched(); }
};

struct TrendOptions {
  double tolerance = 0.01;        // smaller changes do not count, as in a gate
  double false_discovery = 0.05;  // expected fraction of false changes among the reported ones
};

// Returns the trends of the histories with runs, in their order. The histories must be of one
// machine class; all of them together are the family of tests.
std::vector<CaseTrend> compute_trends(std::span<const BaselineHistory> histories,
                                      const TrendOptions& options);

}  // namespace bench
