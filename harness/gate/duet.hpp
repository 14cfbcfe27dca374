// SPDX-License-Identifier: Apache-2.0
// A token duet: base and candidate, two worker processes at once on the same processors, take one
// sample in turns, so that both meet the same machine. While one measures, the other waits for its
// token, which is the next request: a round of one sample. docs/gate.md, gates.md 3.6.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/result/quiet.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace bench {

// A duet takes as many rounds as fit its time, within limits. Fewer let single disturbances into
// the median (gates.md 2.3). Twice as many make it little steadier: what two duets differ by lies
// mostly between them, and the time is better spent on another one (docs/decisions/0020).
inline constexpr Nanoseconds kDuetTime = std::chrono::milliseconds(80);
inline constexpr int kMinDuetRounds = 10;
inline constexpr int kMaxDuetRounds = 60;
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

// What a gate or a self-test measures next.
struct GateStep {
  std::string_view id, what;  // "duet", "confirmation", "window" or "base", of this case
  std::size_t left = 0;       // this one included; what they leave undecided wants more
  std::optional<Nanoseconds> remaining = {};  // for them, by the pace so far; absent of the first
};

// Two workers that play duets of up to `kCasesOfWorkers` cases before others take their place:
// starting them and filling what cold caches rotate over takes longer than a duet's samples. No two
// duets of one case are of the same workers, so that those of a case stay independent of each
// other.
inline constexpr std::size_t kCasesOfWorkers = 8;

class DuetWorkers {
 public:
  // The sessions live longer; `pause` sleeps.
  DuetWorkers(WorkerSession& base, WorkerSession& candidate,
              std::function<void(Nanoseconds)> pause);

  WorkerSession& base() { return base_; }
  WorkerSession& candidate() { return candidate_; }
  void pause(Nanoseconds time) const { pause_(time); }

  // Before a duet of the case. Ends the workers if they have served it, or enough others, or run on
  // other processors.
  void begin(const Case& spec);
  // Whether they have served other cases than that of the last begin().
  bool are_shared() const { return served_.size() > 1; }
  void finish();

 private:
  WorkerSession& base_;
  WorkerSession& candidate_;
  std::function<void(Nanoseconds)> pause_;
  std::set<std::string> served_;
  std::optional<int> threads_;
};

// Starts the workers that are not there, and leaves them for the next duet. A worker that does not
// start is a failure of its side. A failure of workers that have served other cases is tried again
// with fresh ones: it may be what another case left.
DuetResult run_duet(DuetWorkers& workers, const DuetRequest& request);

}  // namespace bench
