// SPDX-License-Identifier: Apache-2.0
// A token duet: base and candidate, two worker processes at once on the same processors, take one
// sample in turns, so that both meet the same machine. While one measures, the other waits for its
// token, which is the next request: a round of one sample. docs/gate.md, gates.md 3.6.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/gate/evidence.hpp"
#include "harness/report/quiet.hpp"
#include "harness/run/protocol.hpp"
#include "harness/run/worker_session.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace bench {

// Rounds are cheap beside the start of two processes: a duet takes as many as fit its time, within
// limits. Fewer let single disturbances into the median (gates.md 2.3); on a busy virtual machine
// most of a duet's noise lies between its rounds, so that more of them pay (docs/gate.md).
inline constexpr Nanoseconds kDuetTime = std::chrono::milliseconds(150);
inline constexpr int kFewestDuetRounds = 10;
inline constexpr int kMostDuetRounds = 60;
// The caches of a sample as long as this are filled in no time: no untimed one comes before it.
inline constexpr Nanoseconds kLongSample = std::chrono::milliseconds(10);
// A warm process needs no second opinion on that: 20 of them are started for one case.
inline constexpr Nanoseconds kDuetWarmup = std::chrono::milliseconds(20);
// Until the pool of the side that was just measured sleeps: it spins 0.4 ms (placement.hpp).
inline constexpr Nanoseconds kHandOver = std::chrono::milliseconds(1);

struct DuetRequest {
  const Case* spec;
  ops::MetLayouts met{};                   // of a layer
  std::uint64_t data_seed = 1;             // of inputs and weights, the same on both sides
  std::uint64_t order_seed = 1;            // of who goes first
  const OutputSample* expected = nullptr;  // absent: the candidate is checked against the reference
  QuietLevels* levels = nullptr;           // learns from its canaries; null: knows them alone
};

struct DuetResult {
  std::optional<Duet> duet;  // without run, stage and number, which the caller knows
  std::optional<PreparedReply> base, candidate;
  std::optional<SideFailure> failure;  // absent with a duet, or if it was interrupted
};

struct DuetWorld {
  WorkerSession& base;
  WorkerSession& candidate;
  std::function<void(Nanoseconds)> pause;  // sleeps
};

// Starts two fresh workers and ends them. A worker that does not start is a failure of its side.
DuetResult run_duet(const DuetWorld& world, const DuetRequest& request);

}  // namespace bench
