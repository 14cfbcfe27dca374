// SPDX-License-Identifier: Apache-2.0
// All evidence of a gate: the candidate's run, the stored runs, and the duets or windows. Plain
// data. decide() in harness/judge/decide.hpp turns the evidence into verdicts.
#pragma once

#include "base/enumerators.hpp"
#include "harness/config/plan.hpp"
#include "harness/judge/cause.hpp"
#include "harness/judge/change.hpp"
#include "harness/result/measured.hpp"
#include "harness/result/record.hpp"
#include "harness/store/history.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// Numbers of measurements and error rates of a gate. docs/gate.md gives the reasons. An open case
// is one whose time the candidate's run and the store do not decide.
struct GatePolicy {
  // Duets of an open case at the first and at the last interim analysis. Each analysis takes place
  // after twice as many duets as the one before.
  int first_duets = 6;
  int last_duets = 80;
  // The same for the duets that confirm a REGRESSION; 0 last confirmations: none is needed.
  int first_confirmations = 10;
  int last_confirmations = 40;
  int windows = 3;                     // number of windows, without a base
  int window_processes = 7;            // processes per window
  double false_discovery_rate = 0.05;  // q, over all open cases of a run
  double confirmation_error = 0.05;    // over all interim analyses of the confirming duets together
  // Error of an unconfirmed regression, over all open cases and interim analyses of a run.
  double unconfirmed_error = 0.01;
  double obvious_effect = 0.25;  // fraction; smaller effects need confirming duets
  double bound_error = 0.05;     // error of each reported bound
  double pass_error = 0.03;      // error of the upper bound that decides PASS, per interim analysis
  // Error and power of the test for which the minimum detectable effect is computed
  double detectable_error = 0.01;
  double detectable_power = 0.8;
  double unknown_spread = 0.10;  // run-to-run variation if the store has fewer than min_runs
  int min_runs = kMinRuns;       // for a run-to-run variation
};

// The samples of two processes, base and candidate, that alternated on the same processors. In each
// round, each process took one sample, in random order. The duet is the unit of all statistics.
struct Duet {
  BENCH_MEMBER_ENUM(Stage, first, confirmation);
  std::string run_id;
  std::string id;
  Stage stage = Stage::first;
  int number = 0;                            // within the case and stage, from 0
  std::int64_t iterations_per_sample = 1;    // the same on both sides
  std::vector<Nanoseconds> base, candidate;  // whole samples, one per side and round
  // Clock of a device's processors during the samples, one value per round. Empty if the clock of
  // any sample is unknown.
  std::vector<std::int64_t> base_clock_hz, candidate_clock_hz;
  // Canary times next to the samples, one per round; 0 if the kernel took the processor away from
  // the sample. Empty if they are not comparable.
  std::vector<Nanoseconds> base_canary, candidate_canary;
  friend bool operator==(const Duet&, const Duet&) = default;
};

// Minimum number of uninterrupted rounds for the median of a duet.
inline constexpr std::size_t kMinUninterruptedRounds = 3;
// Whether the canaries show in which rounds the kernel took the processor away from a sample.
bool has_canaries(const Duet& duet);
// Returns the indices of the rounds in which no sample lost its processor. Empty without canaries.
std::vector<std::size_t> find_uninterrupted_rounds(const Duet& duet);
// Returns the indices of the rounds that count: the uninterrupted ones, or all if these are too
// few. The choice depends only on the canaries, never on the samples. Rounds with unequal canaries
// count: the order of the sides is random, and leaving them out made duets less precise on every
// record (docs/decisions/0037).
std::vector<std::size_t> counted_rounds(const Duet& duet);
// Returns the median time of an iteration on one side over the rounds that count, in nanoseconds.
// `side` is &Duet::base or &Duet::candidate. Returns nullopt if there are no rounds.
std::optional<double> duet_median(const Duet& duet, std::vector<Nanoseconds> Duet::*side);
// Whether the duet has canaries, and too few of its rounds were uninterrupted.
bool is_disturbed(const Duet& duet);
// Returns the median of log(candidate / base) over the rounds that count. Returns nullopt if no
// round has a positive time on both sides.
std::optional<double> log_ratio(const Duet& duet);
// Returns the same for cycles (time x clock), over all rounds. Returns nullopt if a side has no
// clocks.
std::optional<double> log_cycle_ratio(const Duet& duet);

// Consecutive processes of the candidate only: the measurement of a gate without a base.
struct Window {
  struct Process {
    Nanoseconds median{0};  // of whole samples
    std::int64_t iterations_per_sample = 1;
    friend bool operator==(const Process&, const Process&) = default;
  };
  std::string run_id;
  std::string id;
  int number = 0;  // within the case, from 0
  std::vector<Process> processes;
  std::optional<TimesBySpeed> by_speed = std::nullopt;  // nullopt without canaries
  friend bool operator==(const Window&, const Window&) = default;
};

// The stored runs of a case (harness/store/history.hpp).
struct StoredEvidence {
  std::string commit, time, run_id;  // those of the last run
  // Why the stored times are not comparable: the field that differs, with both values, or the
  // problem of the file. If set, the members after is_malformed have their initial values.
  std::optional<std::string> incomparable;
  bool is_malformed = false;       // whether `incomparable` is set because no record can be read
  int runs = 0;                    // runs of the present epoch; 0 if their variation is unknown
  double log_level = 0;            // center() of the runs: log(nanoseconds per iteration)
  double sigma = 0;                // moderated_sigma() of the runs
  std::optional<double> q95, q99;  // quantiles of absolute differences between runs
  // The last runs as one (StoredStatistics::recent), with which runs are compared at equal speed;
  // nullopt without canaries.
  std::optional<TimesBySpeed> by_speed;
  // The last run. If read from a gate's file, it has only median, clock and exact properties.
  MeasuredCase measured;
  // How the last run and the candidate's differ; nullopt in older files.
  std::optional<CauseFacts> difference = std::nullopt;
  friend bool operator==(const StoredEvidence&, const StoredEvidence&) = default;
};

// Why a side has no time for a case.
struct SideFailure {
  BENCH_MEMBER_ENUM(Side, base, candidate);
  Side side = Side::base;
  Outcome outcome = Outcome::failed;
  std::string reason;
  friend bool operator==(const SideFailure&, const SideFailure&) = default;
};

// Returns the side to blame if the duet has no log_ratio(): the base if its samples took no time,
// else the candidate. Returns nullopt if the duet has a ratio.
std::optional<SideFailure::Side> find_side_without_time(const Duet& duet);

struct CaseEvidence {
  MeasuredCase candidate;  // as stage 1 measured it
  // Whether stage 1 ended before the first process of the case. If true, the candidate's outcome
  // has no meaning.
  bool is_unmeasured = false;
  std::optional<StoredEvidence> stored;
  // Exact properties of the base; nullopt if the base has not prepared the case. Its samples are in
  // the duets.
  std::optional<ExactProperties> base;
  // Failure in stage 2, or of the base when it was inspected before.
  std::optional<SideFailure> failure;
  std::vector<Duet> duets;  // duets of both stages, in the order of measurement
  std::vector<Window> windows;

  const std::string& id() const { return candidate.id; }
};

struct GateEvidence {
  // paired: compares with a base, in duets. store_only: compares with stored runs.
  BENCH_MEMBER_ENUM(Mode, paired, store_only);
  Mode mode = Mode::store_only;
  GateSettings settings;
  GatePolicy policy;
  std::vector<CaseEvidence> cases;
  // Ids of cases that the store has for this configuration, but that it no longer contains.
  std::vector<std::string> removed;
  // Changes of libraries, caps and environment: between the sides, or since the store's last run.
  std::vector<Change> changes;
  // Whether the store has a run of this configuration. Runs of another machine and of cases that
  // the configuration no longer has count, too. If false, a gate without a base is the first run.
  bool configuration_is_stored = false;
  // Unreadable lines of the store, with their location.
  std::vector<std::string> store_problems;
  std::optional<StopCause> stopped;  // why the measurements ended early; nullopt if they did not
};

}  // namespace bench
