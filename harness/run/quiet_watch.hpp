// SPDX-License-Identifier: Apache-2.0
// Measures for `bench doctor` how quiet this machine is now, and what disturbs it.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "base/units.hpp"
#include "harness/host/environment.hpp"
#include "harness/result/quiet.hpp"
#include "harness/wire/messages.hpp"

#include <cstdint>
#include <string>

namespace bench {

// Numbers of observations of the machine, in total and by result.
struct QuietWatch {
  std::int64_t observations = 0;
  std::int64_t quiet = 0;
  // Disturbed observations by cause. An observation counts for the first cause that applies.
  std::int64_t interrupted = 0;  // a thread lost its processor during the observation
  std::int64_t slow_clock = 0;   // work that a neighbour cannot slow down also took longer
  std::int64_t neighbour = 0;    // another thread used the execution units of the core
};

// Maximum time that an observation loses to interrupts of its own system. If it loses more, the
// host ran something else on the processor.
inline constexpr Nanoseconds kMaxInterruptTime = std::chrono::microseconds(20);
// If clock-bound work takes longer by more than this fraction, the clock counts as slow.
inline constexpr double kClockTolerance = 0.03;

// Classifies the observations. `levels`: stored quiet levels, to which this function adds the
// observed canaries.
QuietWatch judge_watch(const WatchedReply& watched, QuietLevels levels);

// Returns the finding, for example "62 % of 10.0 s; a neighbour on the core 31 %, a lower clock 2
// %, a processor taken away 5 %". `time`: duration of the watch.
Finding quiet_finding(const QuietWatch& watch, Nanoseconds time);

// Observes the machine for `time` with all threads of a worker. Returns an error if no worker
// starts, or if the worker cannot observe.
Result<WatchedReply> watch_machine(const std::string& worker_program, Nanoseconds time, Env& env);

}  // namespace bench
