// SPDX-License-Identifier: Apache-2.0
// Measures for `bench doctor` at which speeds this machine runs now, what slows it down, and how
// precisely two runs can be compared on it. Several short worker processes take samples of the
// machine (WatchedReply); the other functions are pure.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/host/environment.hpp"
#include "harness/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bench {

// Number of processes, as in a run with the default configuration.
inline constexpr int kWatchProcesses = 5;
// Minimum number of processes and of their samples for an expected precision.
inline constexpr std::int64_t kMinWatchProcesses = 3;
inline constexpr std::size_t kMinWatchSamples = 10;

// A speed at which the machine often runs.
struct SpeedState {
  Nanoseconds canary{0};    // median time of the canary at this speed
  double share = 0;         // fraction of all samples
  bool is_present = false;  // the most frequent state of the last second
  friend bool operator==(const SpeedState&, const SpeedState&) = default;
};

// A row of the histogram: samples whose canary took at least `from`.
struct SpeedBar {
  Nanoseconds from{0};
  double share = 0;  // fraction of all samples
  friend bool operator==(const SpeedBar&, const SpeedBar&) = default;
};

struct SpeedWatch {
  std::int64_t samples = 0;
  std::vector<SpeedState> states;  // fastest first
  std::vector<SpeedBar> bars;      // fastest first; the last one also has all slower samples
  // Fractions of the samples that were disturbed. A sample counts for the first cause that applies.
  double interrupted = 0;  // a thread lost its processor during the sample
  double slow_clock = 0;   // work that a neighbour cannot slow down also took longer
  double neighbour = 0;    // another thread used the execution units of the core
  // Half the width of the interval of the difference of two runs, as a fraction; nullopt if the
  // processes or their samples are too few.
  std::optional<double> compute_precision, memory_precision;
};

// Evaluates the samples of all processes, in their order. `time`: duration of the whole watch.
SpeedWatch judge_speed(std::span<const WatchedReply> processes, Nanoseconds time);

// Returns two findings: the speeds with what disturbed the machine, and the expected precision.
std::vector<Finding> speed_findings(const SpeedWatch& watch, Nanoseconds time);

// Returns the histogram as lines of at most 80 columns, at most 12 of them; empty without samples.
std::string format_speed_histogram(const SpeedWatch& watch);

// Watches the machine for `time` in total, with all threads of each process. `last_level_cache`:
// its size, if known. Returns an error if a worker does not start or cannot watch.
Result<std::vector<WatchedReply>> watch_speed(const std::string& worker_program, Nanoseconds time,
                                              std::optional<Bytes> last_level_cache, Env& env);

}  // namespace bench
