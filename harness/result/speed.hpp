// SPDX-License-Identifier: Apache-2.0
// What the canaries of a case's samples show: the speed of the machine beside each sample, and the
// case's time at one stated level of speed (harness/stats/equal_speed.hpp). Pure functions.
#pragma once

#include "harness/result/record.hpp"
#include "harness/stats/equal_speed.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// Levels of speed by number of threads, as times of the canary.
using SpeedLevels = std::map<int, Nanoseconds>;

// Returns the number of threads that took the canaries. Returns nullopt unless each process with
// samples has one canary per sample, all on equally many threads.
std::optional<int> canary_threads(std::span<const ProcessRecord* const> processes);

// Returns the level at which the times of a run are stated if the store has none: the 20 % quantile
// of its canaries. On a shared machine, it is near the fast speeds, and
// many samples are near it. Returns nullopt without canaries.
std::optional<Nanoseconds> choose_level(std::span<const ProcessRecord* const> processes);

// A process and its samples.
struct CountedSamples {
  const ProcessRecord* process = nullptr;
  std::vector<Nanoseconds> samples;
};
// Returns the samples as they were measured. Skips processes without samples.
std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes);

// Returns the times of a case by speed; nullopt without canaries (canary_threads()).
std::optional<TimesBySpeed> times_by_speed(std::span<const ProcessRecord* const> processes);
std::optional<TimesBySpeed> times_by_speed(std::span<const ProcessRecord> processes);

// A case at one level of speed.
struct SamplesAtLevel {
  // Each sample as long as it would have been at the level, so that the median of the processes'
  // medians is `time`. Leaves out samples without a canary.
  std::vector<CountedSamples> counted;
  TimesBySpeed by_speed;
  LogEstimate time;  // log(nanoseconds of an iteration) at the level
  // Whether samples were taken at the level. If not, the time is extrapolated.
  bool is_level_seen = false;
};
// Returns nullopt without canaries (canary_threads()).
std::optional<SamplesAtLevel> samples_at(std::span<const ProcessRecord* const> processes,
                                         Nanoseconds level);

}  // namespace bench
