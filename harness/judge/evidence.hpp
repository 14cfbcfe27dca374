// SPDX-License-Identifier: Apache-2.0
// All evidence of a gate: the candidate's run, the stored runs, and the duets measured since. Plain
// data. decide() in harness/judge/decide.hpp turns it into verdicts and may be called repeatedly.
#pragma once

#include "harness/config/plan.hpp"
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

// Limits on the error rates. docs/gate.md gives the reasons.
struct GatePolicy {
  int duets = 6;  // K: duets of a suspect at the first interim analysis
  // Duets at the last interim analysis; each analysis doubles the number of duets
  int extended_duets = 80;
  // Confirming duets before a verdict REGRESSION: at their first and at their last interim
  // analysis.
  int first_confirmations = 10;
  int confirmations = 40;
  int windows = 3;  // without a base: windows, which are spaced in time
  int window_processes = 7;
  double false_discovery_rate = 0.05;  // q, over all suspects of a run
  double confirmation_error = 0.05;    // over all interim analyses of the confirming duets together
  // Error of an unconfirmed regression, over all suspects and interim analyses of a run.
  double unconfirmed_error = 0.01;
  double obvious_effect = 0.25;  // fraction; only larger effects may do without confirmation
  double bound_error = 0.05;     // error of each reported bound
  double pass_error = 0.03;      // error of the upper bound that decides PASS, per interim analysis
  double detectable_error = 0.01;  // error of the minimum detectable effect
  double detectable_power = 0.8;
  double canary_limit = kMovedShare;  // fraction; a canary that changed by more means machine drift
  double unknown_spread = 0.10;       // run-to-run variation if the store has fewer than few_runs
  int few_runs = kMinRuns;
};

// Two processes, base and candidate, that alternated on the same processors. In each round, each
// process took one sample, in random order. The duet is the unit of all statistics.
struct Duet {
  enum class Stage { first, confirmation };
  std::string run_id;
  std::string id;
  Stage stage = Stage::first;
  int number = 0;                            // within the case and stage, from 0
  std::int64_t iterations_per_sample = 1;    // the same on both sides
  std::vector<Nanoseconds> base, candidate;  // whole samples, one per side and round
  // Clock of a device's processors during the samples, one value per round. Empty if any is
  // unknown.
  std::vector<std::int64_t> base_clock_hz, candidate_clock_hz;
  // Canary times next to the samples, one per round, and the quiet level if it was known. Empty if
  // one side measures no canaries.
  std::vector<Nanoseconds> base_canary, candidate_canary;
  Nanoseconds quiet_level{0};
  friend bool operator==(const Duet&, const Duet&) = default;
};

// Minimum number of rounds for the median of a duet.
inline constexpr std::size_t kMinCountedRounds = 5;
// Returns the rounds that count: those in which the machine was quiet next to both samples. If
// these are too few, returns the rounds with equal machine speed next to both samples. If these are
// too few as well, returns all rounds. The choice depends only on the canaries, never on the
// samples.
std::vector<std::size_t> counted_rounds(const Duet& duet);
// Returns the median of log(candidate / base) over the rounds that count. Returns nullopt if no
// round has a positive time on both sides.
std::optional<double> log_ratio(const Duet& duet);
// Returns the same for cycles (time x clock) over all rounds; nullopt without clocks on both sides.
std::optional<double> log_cycle_ratio(const Duet& duet);

// Consecutive processes of the candidate only: the measurement of a gate without a base.
struct Window {
  struct Process {
    Nanoseconds q25{0};  // lower quartile of whole samples
    std::int64_t iterations_per_sample = 1;
    friend bool operator==(const Process&, const Process&) = default;
  };
  std::string run_id;
  std::string id;
  int number = 0;
  std::vector<Process> processes;
  friend bool operator==(const Window&, const Window&) = default;
};

// Machine drift according to the canaries: the speed changed by more than their own noise explains.
struct MachineDrift {
  double log = 0;    // absolute change of the canary that changed most; infinite if unknown
  std::string text;  // "machine speed changed: dram by +4.1 % during the run"
  friend bool operator==(const MachineDrift&, const MachineDrift&) = default;
};

// What the store knows of a case (harness/store/history.hpp).
struct StoredEvidence {
  std::string commit, time, run_id;  // those of its last run
  // Why the stored times are not comparable: the field that differs, with both values. If set, the
  // fields below are empty.
  std::optional<std::string> incomparable;
  bool is_malformed =
      false;                // whether `incomparable` is set because none of its records can be read
  int runs = 0;             // runs of the present epoch
  double mean_log_q25 = 0;  // mean of log(q25 / 1 ns) over the last runs
  double sigma = 0;         // between runs, from log medians, moderated
  std::optional<double> q95, q99;  // quantiles of absolute differences of log q25 between runs
  // The last run. A gate's file has its median, clock and exact properties.
  MeasuredCase measured;
  friend bool operator==(const StoredEvidence&, const StoredEvidence&) = default;
};

// Why a duet did not finish.
struct SideFailure {
  enum class Side { base, candidate };
  Side side = Side::base;
  Outcome outcome = Outcome::failed;
  std::string reason;
  friend bool operator==(const SideFailure&, const SideFailure&) = default;
};

struct CaseEvidence {
  MeasuredCase candidate;  // as stage 1 measured it
  // Whether stage 1 ended before the first process of the case. If so, the candidate's outcome is
  // meaningless.
  bool is_unmeasured = false;
  std::optional<StoredEvidence> stored;
  // What is known of the base besides its samples, which are in the duets.
  std::optional<ExactProperties> base;
  std::optional<SideFailure> failure;  // in a duet or window
  std::vector<Duet> duets;             // both stages, in the order of measurement
  std::vector<Window> windows;

  const std::string& id() const { return candidate.id; }
};

struct GateEvidence {
  enum class Mode { paired, store_only };
  Mode mode = Mode::store_only;
  GateSettings settings;
  GatePolicy policy;
  std::vector<CaseEvidence> cases;
  // Cases of this configuration that are in the store but no longer in the configuration.
  std::vector<std::string> removed;
  // Changes of libraries, caps and environment: between the sides, or since the store's last run.
  std::vector<Change> changes;
  // Set if the machine speed changed: comparing stage 1 with the store must allow for it.
  std::optional<MachineDrift> moved;
  // Whether the store has a run of this configuration. Runs of another machine and of cases that
  // the configuration no longer has count, too. Without any, a gate without a base is the first
  // run.
  bool configuration_is_stored = false;
  // Unreadable lines of the store, with their location.
  std::vector<std::string> store_problems;
  std::optional<StopCause> stopped;
};

}  // namespace bench
