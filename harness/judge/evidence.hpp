// SPDX-License-Identifier: Apache-2.0
// What a gate knows: the candidate's run, what the store says, and the duets measured since. Plain
// data; harness/judge/decide.hpp makes verdicts of it, as often as one likes.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/judge/change.hpp"
#include "harness/result/record.hpp"
#include "harness/store/history.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

// How errors are bounded; gates.md calls them by these letters. The reasons are in docs/gate.md.
struct GatePolicy {
  int duets = 6;            // K: of a suspect at the first look
  int extended_duets = 80;  // ... at the last: what a look leaves undecided gets as many once more
  // Fresh duets before anything is called a regression: at the first look at them, and at the last.
  int first_confirmations = 10;
  int confirmations = 40;
  int windows = 3;  // without a base: this far apart in time
  int window_processes = 7;
  double false_discovery_rate = 0.05;  // q, over all suspects of a run
  double confirmation_error = 0.05;    // of all looks at the fresh duets together
  // Of a regression that no fresh duets confirmed, over all suspects and looks of a run.
  double unconfirmed_error = 0.01;
  double obvious_effect = 0.25;    // a share: only larger ones may do without confirmation
  double bound_error = 0.05;       // of each bound that is shown
  double pass_error = 0.03;        // of the upper bound that means PASS, at each look
  double detectable_error = 0.01;  // of the minimal detectable effect
  double detectable_power = 0.8;
  double canary_limit = kMovedShare;  // the machine moved when a canary did by more
  double unknown_spread = 0.10;       // between runs, where the store holds fewer than few_runs
  int few_runs = kMinRuns;
};

// Two processes, base and candidate, that took turns on the same processors: in each round either
// took one sample, in random order. The unit of all statistics.
struct Duet {
  enum class Stage { first, confirmation };
  std::string run_id;
  std::string id;
  Stage stage = Stage::first;
  int number = 0;                            // within the case and stage, from 0
  std::int64_t iterations_per_sample = 1;    // the same on both sides
  std::vector<Nanoseconds> base, candidate;  // whole samples, one of each a round
  // Of a device's processors meanwhile, one a round; empty where one of them is not known.
  std::vector<std::int64_t> base_clock_hz, candidate_clock_hz;
  // The canaries beside the samples, one a round, and the quiet level as far as it was known; empty
  // where a side takes none.
  std::vector<Nanoseconds> base_canary, candidate_canary;
  Nanoseconds quiet_level{0};
  friend bool operator==(const Duet&, const Duet&) = default;
};

// So many rounds make a median of a duet.
inline constexpr std::size_t kMinCountedRounds = 5;
// Which rounds count: those in which the machine was quiet beside both samples; where they are too
// few, those in which it was the same beside both; where these are, all. The canaries are looked
// at, never the samples.
std::vector<std::size_t> counted_rounds(const Duet& duet);
// Median over the rounds that count of log(candidate / base). Absent without a round in which both
// took time.
std::optional<double> log_ratio(const Duet& duet);
// The same of cycles, time x clock, over all rounds; absent without the clocks of both sides.
std::optional<double> log_cycle_ratio(const Duet& duet);

// Processes of the candidate alone, measured one after the other: a gate without a base.
struct Window {
  struct Process {
    Nanoseconds q25{0};  // of whole samples
    std::int64_t iterations_per_sample = 1;
    friend bool operator==(const Process&, const Process&) = default;
  };
  std::string run_id;
  std::string id;
  int number = 0;
  std::vector<Process> processes;
  friend bool operator==(const Window&, const Window&) = default;
};

// What the canaries say of the machine: its speed changed by more than their own noise explains.
struct MachineDrift {
  double log = 0;    // absolute, of the canary that changed most; infinite if it is not known
  std::string text;  // "the machine moved: dram by +4.1 % during the run"
  friend bool operator==(const MachineDrift&, const MachineDrift&) = default;
};

// What the store says of a case, reduced to what a gate decides by (harness/store/history.hpp).
struct StoredCase {
  std::string commit, time, run_id;  // of its last run
  // Why its times say nothing here: the field that differs, with both values. The rest is empty.
  std::optional<std::string> incomparable;
  bool is_damaged = false;            // it is that none of its records can be read
  int runs = 0;                       // of the present epoch
  double center = 0;                  // mean over the last runs of log(q25 / 1 ns)
  double sigma = 0;                   // between runs, of log medians, moderated
  std::optional<double> q95, q99;     // of differences of log q25 between runs, absolute
  std::optional<Nanoseconds> median;  // of its last run
  std::optional<std::int64_t> clock_hz = std::nullopt;  // of a device, in its last run
  PreparedSide side;
  friend bool operator==(const StoredCase&, const StoredCase&) = default;
};

// Why a duet could not be played to its end.
struct SideFailure {
  enum class Side { base, candidate };
  Side side = Side::base;
  Outcome outcome = Outcome::failed;
  std::string reason;
  friend bool operator==(const SideFailure&, const SideFailure&) = default;
};

struct CaseEvidence {
  std::string id;
  std::string source;                 // "configs/resnet.yaml:14"
  Outcome outcome = Outcome::ok;      // of the candidate
  std::optional<std::string> reason;  // with every outcome but ok
  // Whether stage 1 ended before the case had its first process; its outcome says nothing then.
  bool is_unmeasured = false;
  bool unsteady = false;
  // Whether stage 1 ended before the case had all its processes.
  bool is_interrupted = false;
  std::vector<double> q25;               // stage 1: nanoseconds of an iteration, one a process
  std::optional<Nanoseconds> median;     // of them
  std::optional<std::int64_t> clock_hz;  // of a device, meanwhile
  PreparedSide side;
  std::optional<StoredCase> stored;
  std::optional<PreparedSide> base;
  std::optional<SideFailure> failure;  // in a duet or window
  std::vector<Duet> duets;             // of both stages, in the order of measurement
  std::vector<Window> windows;
};

struct GateEvidence {
  enum class Mode { paired, store_only };
  Mode mode = Mode::store_only;
  GateSettings settings;
  GatePolicy policy;
  std::vector<CaseEvidence> cases;
  // Cases of this configuration that the store holds and the configuration no longer has.
  std::vector<std::string> removed;
  // Of libraries, caps and environment: between the sides, or since the store's last run.
  std::vector<Change> changes;
  // Present: stage 1 and the store cannot be compared without allowing for it.
  std::optional<MachineDrift> moved;
  // Whether the store holds a run of this configuration, also one of another machine or of cases
  // that the configuration no longer has. Without one, a gate that has no base is the first run.
  bool configuration_is_stored = false;
  // Lines of the store that cannot be read, with their place.
  std::vector<std::string> store_problems;
  std::optional<StopCause> stopped;
};

}  // namespace bench
