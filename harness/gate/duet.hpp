// SPDX-License-Identifier: Apache-2.0
// A token duet. Two worker processes on the same processors, base and candidate, alternately take
// one sample, so that both see the same state of the machine. While one measures, the other waits
// for its token: the next request, for a round of one sample (docs/gate.md).
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

// A duet takes as many rounds as fit its time, within limits. With fewer rounds, single
// disturbances reach the median. Twice as many add little precision: most variation
// lies between duets, so another duet is the better use of the time (docs/decisions/0020).
inline constexpr Nanoseconds kDuetTime = std::chrono::milliseconds(80);
inline constexpr int kMinDuetRounds = 10;
inline constexpr int kMaxDuetRounds = 60;
// A sample of this length makes cold caches irrelevant, so no untimed sample precedes it.
inline constexpr Nanoseconds kLongSample = std::chrono::milliseconds(10);
// Maximum warm-up of a process. It is short because one case starts about 20 processes.
inline constexpr Nanoseconds kDuetWarmup = std::chrono::milliseconds(20);
// Time until the thread pool of the side that was just measured sleeps: it spins for 0.4 ms
// (placement.hpp).
inline constexpr Nanoseconds kHandOver = std::chrono::milliseconds(1);

struct DuetRequest {
  const Case* spec;
  ops::InputLayouts input_layouts{};       // input layouts of a layer in its network
  std::uint64_t data_seed = 1;             // for inputs and weights, the same on both sides
  std::uint64_t order_seed = 1;            // for the order of the sides
  const OutputSample* expected = nullptr;  // nullptr: check the candidate against the reference
  // Learns from the duet's canaries; nullptr: use only the duet's own
  QuietLevels* levels = nullptr;
};

struct DuetResult {
  std::optional<Duet> duet;  // without run, stage and number, which the caller sets
  std::optional<PreparedReply> base, candidate;
  std::optional<SideFailure> failure;  // nullopt if there is a duet or the user interrupted
};

// The next measurement of a gate or a self-test, for progress output.
struct GateStep {
  std::string_view id, what;  // `what` is "duet", "confirmation", "window" or "base", for case `id`
  std::size_t left = 0;       // including this one; undecided cases may add more
  // Estimated from the pace so far; nullopt for the first step
  std::optional<Nanoseconds> remaining = {};
};

// Two workers that run duets of up to `kCasesOfWorkers` cases before new ones replace them.
// Starting them and filling the rotation for cold caches takes longer than a duet's samples. No two
// duets of one case use the same workers, so that the duets of a case stay independent.
inline constexpr std::size_t kCasesOfWorkers = 8;

class DuetWorkers {
 public:
  // The sessions must outlive this object. `pause` sleeps.
  DuetWorkers(WorkerSession& base, WorkerSession& candidate,
              std::function<void(Nanoseconds)> pause);

  WorkerSession& base() { return base_; }
  WorkerSession& candidate() { return candidate_; }
  void pause(Nanoseconds time) const { pause_(time); }

  // Prepares a duet of the case. Ends the workers if they already served this case or too many
  // others, or if their thread count differs.
  void begin(const Case& spec);
  // Whether the workers have also served cases other than that of the last begin().
  bool are_shared() const { return served_.size() > 1; }
  void finish();

 private:
  WorkerSession& base_;
  WorkerSession& candidate_;
  std::function<void(Nanoseconds)> pause_;
  std::set<std::string> served_;
  std::optional<int> threads_;
};

// Runs one duet. Starts missing workers and leaves them for the next duet. If a worker does not
// start, its side fails. If workers that served other cases fail, run_duet() tries again with fresh
// ones: the cause may lie in another case.
DuetResult run_duet(DuetWorkers& workers, const DuetRequest& request);

}  // namespace bench
