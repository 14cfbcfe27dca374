// SPDX-License-Identifier: Apache-2.0
// Decides which samples of a case count: those during which the machine was quiet. The decision
// depends only on the canaries before and after a sample (record.hpp), never on the sample itself.
// It therefore does not prefer fast samples. docs/decisions/0019 describes the study behind the
// constants. Pure functions.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// A canary is quiet if it exceeds the quiet level by at most this fraction. Values from 3 to 10 %
// are equivalent, because load on the same core slows the canary down by 30 % or more.
inline constexpr double kQuietTolerance = 0.05;
// Quantile of the canaries that defines the quiet level. The few faster ones are noise of the
// clock.
inline constexpr double kQuietQuantile = 0.05;
// Minimum number of quiet samples for the median of a process. Few quiet samples scatter more than
// many disturbed ones, but only they have the right size: beside another program, a sample of some
// milliseconds takes several times as long (docs/decisions/0034).
inline constexpr std::size_t kMinQuietSamples = 3;

// Estimates the quiet level, which is the canary time on the quiet machine, per number of threads.
class QuietLevels {
 public:
  // Adds a stored quiet level of this machine class. Learnt canaries can only lower the level.
  void know(int threads, Nanoseconds level);
  // Adds the canaries of samples. Ignores canaries of 0 (see SampleCanaries).
  void learn(int threads, std::span<const Nanoseconds> canaries);
  // Returns the quiet level; nullopt if nothing is known for that number of threads.
  std::optional<Nanoseconds> level(int threads) const;

 private:
  std::map<int, Nanoseconds> stored_;                 // lowest stored level, by number of threads
  std::map<int, std::vector<Nanoseconds>> canaries_;  // by number of threads
};

bool is_quiet(Nanoseconds canary, Nanoseconds level);

// Threads count as equally far apart if starting and joining them takes at most this multiple of
// the shortest time. The time varies by 30 % between equal processes. It differs by 60 % or more
// between near and far processors.
inline constexpr double kJoinFactor = 1.4;
// Returns whether the threads with join time `join` are farther apart than those with `reference`.
bool is_farther(Nanoseconds join, Nanoseconds reference);

// A process and those of its samples that count.
struct CountedSamples {
  const ProcessRecord* process = nullptr;
  std::vector<Nanoseconds> samples;
};
struct JudgedSamples {
  std::vector<CountedSamples> counted;  // only processes with counted samples, in their order
  std::optional<QuietSummary> quiet;    // nullopt if any process has no canaries
  // Returns whether all samples count because no process has enough quiet ones.
  bool is_disturbed() const { return quiet && quiet->processes == 0; }
};
// Selects the samples that count. Skips processes without samples. Uses the lowest quiet level of
// all processes. If the threads were near each other only in some processes, only these count.
JudgedSamples judge_samples(std::span<const ProcessRecord* const> processes);
// Returns all samples, independent of the canaries.
std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes);

}  // namespace bench
