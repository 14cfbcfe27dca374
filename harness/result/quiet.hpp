// SPDX-License-Identifier: Apache-2.0
// Decides which samples of a case count: those next to which the machine was quiet. The decision
// depends only on the canaries before and after a sample (record.hpp), never on the sample itself.
// So no sample is selected for being fast. docs/decisions/0019 has the study behind the constants.
// Pure functions.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// A canary is quiet if it exceeds the quiet level by at most this fraction. Values from 3 to 10 %
// are equivalent: load on the same core slows the canary down by 30 % or more.
inline constexpr double kQuietTolerance = 0.05;
// Quantile of the canaries that defines the quiet level: the fastest few are clock noise.
inline constexpr double kQuietQuantile = 0.05;
// Minimum number of quiet samples for the median of a process.
inline constexpr std::size_t kMinQuietSamples = 5;

// Canary times on the quiet machine, by number of threads.
class QuietLevels {
 public:
  // Adds a level of this machine class from a store. Learnt canaries can only lower it.
  void know(int threads, Nanoseconds level);
  // Adds canaries of samples.
  void learn(int threads, std::span<const Nanoseconds> canaries);
  // Returns the quiet level; nullopt if nothing is known for that number of threads.
  std::optional<Nanoseconds> level(int threads) const;

 private:
  std::map<int, Nanoseconds> known_;
  std::map<int, std::vector<Nanoseconds>> learnt_;
};

bool is_quiet(Nanoseconds canary, Nanoseconds level);

// Threads count as equally far apart if starting and joining them takes at most this multiple of
// the shortest time. The time varies by 30 % between equal processes. It differs by 60 % or more
// between near and far processors.
inline constexpr double kJoinFactor = 1.4;
bool is_farther(Nanoseconds join, Nanoseconds than);

// The samples of a process that count.
struct CountedSamples {
  const ProcessRecord* process = nullptr;
  std::vector<Nanoseconds> samples;
};
struct JudgedSamples {
  std::vector<CountedSamples> counted;  // only processes with counted samples, in their order
  std::optional<QuietSummary> quiet;    // nullopt if a process has no canaries
  // Whether all samples count because too few are quiet.
  bool is_disturbed() const { return quiet && quiet->processes == 0; }
};
// Skips processes without samples. Uses the lowest quiet level that any process knows. If threads
// were near each other in some processes only, only these processes count.
JudgedSamples judge_samples(std::span<const ProcessRecord* const> processes);
// Returns all samples, whatever the canaries show.
std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes);

}  // namespace bench
