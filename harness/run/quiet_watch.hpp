// SPDX-License-Identifier: Apache-2.0
// How quiet this machine is just now, and what disturbs it: for `bench doctor`.
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

// Numbers of looks.
struct QuietWatch {
  std::int64_t looks = 0;
  std::int64_t quiet = 0;
  // What explains the others, each by the first that applies.
  std::int64_t interrupted = 0;  // a thread lost its processor in the midst of it
  std::int64_t slow_clock = 0;   // also what a neighbour cannot slow down took longer
  std::int64_t neighbour = 0;    // the core's units were shared
};

// What a look loses to an interrupt of its own guest is below this; another guest takes more.
inline constexpr Nanoseconds kLostToInterruption = std::chrono::microseconds(20);
// A clock that is lower by more than this is another one.
inline constexpr double kClockTolerance = 0.03;

// `levels` are those that are known beforehand, of a store; what is seen here is learnt.
QuietWatch judge_watch(const WatchedReply& watched, QuietLevels levels);

// "quiet 62 % of 10.0 s; a neighbour on the core 31 %, a lower clock 2 %, taken away 5 %".
Finding quiet_finding(const QuietWatch& watch, Nanoseconds time);

// Watches with all threads, in a worker. Error: no worker, or one that cannot.
Result<WatchedReply> watch_machine(const std::string& worker_program, Nanoseconds time, Env& env);

}  // namespace bench
