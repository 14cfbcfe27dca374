// SPDX-License-Identifier: Apache-2.0
// Which samples of a case count: those beside which the machine was quiet. The canaries before and
// after a sample (record.hpp) are looked at, never the sample itself: nothing is chosen for being
// fast. docs/decisions/0019 has the study behind the numbers. Pure functions.
#pragma once

#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <span>
#include <vector>

namespace bench {

// A canary up to this share above the quiet level is quiet. Between 3 and 10 % it makes no
// difference: a neighbour on the core slows it down by 30 % and more.
inline constexpr double kQuietTolerance = 0.05;
// The quiet level is this quantile of the canaries: the fastest few are clock noise.
inline constexpr double kQuietQuantile = 0.05;
// So many quiet samples make a median of a process.
inline constexpr std::size_t kMinQuietSamples = 5;

// What the canary takes on the quiet machine, by its number of threads.
class QuietLevels {
 public:
  // Of this machine class, as a store has it: what is learnt can only be below.
  void know(int threads, Nanoseconds level);
  // Canaries of samples that have been taken.
  void learn(int threads, std::span<const Nanoseconds> canaries);
  // Absent before anything is known of that number of threads.
  std::optional<Nanoseconds> level(int threads) const;

 private:
  std::map<int, Nanoseconds> known_;
  std::map<int, std::vector<Nanoseconds>> learnt_;
};

bool is_quiet(Nanoseconds canary, Nanoseconds level);

// Threads whose starting and joining takes up to this factor of the shortest are equally far apart:
// of one process after the other it differs by 30 %, between near and far processors by 60 % and
// more.
inline constexpr double kJoinFactor = 1.4;
bool is_farther(Nanoseconds join, Nanoseconds than);

// The samples of a process that count.
struct CountedSamples {
  const ProcessRecord* process = nullptr;
  std::vector<Nanoseconds> samples;
};
struct JudgedSamples {
  std::vector<CountedSamples> counted;  // of the processes that have some, in their order
  std::optional<QuietSummary> quiet;    // absent where a process has no canaries
  // Too few quiet samples: all of them count.
  bool is_disturbed() const { return quiet && quiet->processes == 0; }
};
// Processes without samples count nothing. The level is the lowest that any of them knows of. Of
// processes whose threads were near each other and others the near ones count alone.
JudgedSamples judge_samples(std::span<const ProcessRecord* const> processes);
// All samples, whatever the canaries say.
std::vector<CountedSamples> all_samples(std::span<const ProcessRecord* const> processes);

}  // namespace bench
