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

// Numbers of observations.
struct QuietWatch {
  std::int64_t looks = 0;
  std::int64_t quiet = 0;
  // Causes of the disturbed ones; each counts for the first cause that applies.
  std::int64_t interrupted = 0;  // a thread lost its processor during the observation
  std::int64_t slow_clock = 0;   // work that a neighbour cannot slow down also took longer
  std::int64_t neighbour = 0;    // another thread shared the core's units
};

// An interrupt of its own guest costs an observation less than this; another guest costs more.
inline constexpr Nanoseconds kLostToInterruption = std::chrono::microseconds(20);
// A clock that is lower by more than this fraction counts as a different clock.
inline constexpr double kClockTolerance = 0.03;

// `levels` are the levels already known from a store. The watch adds what it observes.
QuietWatch judge_watch(const WatchedReply& watched, QuietLevels levels);

// For example "quiet 62 % of 10.0 s; a neighbour on the core 31 %, a lower clock 2 %, taken away 5
// %".
Finding quiet_finding(const QuietWatch& watch, Nanoseconds time);

// Observes with all threads, in a worker. Returns an error if no worker starts or it cannot
// observe.
Result<WatchedReply> watch_machine(const std::string& worker_program, Nanoseconds time, Env& env);

}  // namespace bench
