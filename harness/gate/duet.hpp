// SPDX-License-Identifier: Apache-2.0
// A token duet. Two worker processes on the same processors, base and candidate, alternately take
// one timed sample, so that both see the same state of the machine. While one measures, the other
// waits for its token: the request for its next round (docs/gate.md).
#pragma once

#include "harness/config/plan.hpp"
#include "harness/judge/evidence.hpp"
#include "harness/run/worker_session.hpp"
#include "harness/wire/messages.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace bench {

// A duet takes as many rounds as fit into kDuetTime, within the two limits. With fewer rounds, a
// single disturbance can change the median. Twice as many rounds add little precision: duets differ
// more than the rounds of one duet, so another duet is the better use of the time
// (docs/decisions/0020).
inline constexpr Nanoseconds kDuetTime = std::chrono::milliseconds(80);
inline constexpr int kMinDuetRounds = 10;
inline constexpr int kMaxDuetRounds = 60;
// If a sample takes at least this long, cold caches do not matter. Without a thread pool, no
// untimed sample then precedes it.
inline constexpr Nanoseconds kLongSample = std::chrono::milliseconds(10);
// Maximum warm-up per side of a duet. It is short because each duet of a case warms up again.
inline constexpr Nanoseconds kDuetWarmup = std::chrono::milliseconds(20);
// Time until the thread pool of the side that was just measured sleeps: it spins for 0.4 ms
// (placement.hpp).
inline constexpr Nanoseconds kHandOverPause = std::chrono::milliseconds(1);

struct DuetRequest {
  const Case* spec;
  ops::InputLayouts input_layouts{};  // for a layer: its input layouts in its network
  std::uint64_t data_seed = 1;        // seed of inputs and weights, the same on both sides
  std::uint64_t order_seed = 1;       // seed of the random order of the sides
  // Output that the candidate must compute, and the base as well unless it has another case.
  // nullptr: run_duet() checks the candidate against the reference, and the base against the
  // candidate.
  const OutputSample* expected = nullptr;
  // What each side chose by measuring before the case's first duet.
  std::string base_choices{}, candidate_choices{};
  // The case of the base if it is not `spec`. Then the sides do not compute the same: each has an
  // expected output of its own, or is checked against its reference. The Duet has the id of `spec`.
  const Case* base_spec = nullptr;
  const OutputSample* base_expected = nullptr;
};

struct DuetResult {
  std::optional<Duet> duet;  // without run_id, stage and number, which the caller sets
  std::optional<PreparedReply> base, candidate;  // nullopt if the side did not prepare the case
  std::optional<SideFailure> failure;            // nullopt if there is a duet or it was aborted
};

// The next measurement of a gate or a self-test, for progress output.
struct GateStep {
  std::string_view id;         // the case
  std::string_view kind;       // "duet", "confirmation", "window" or "base"
  std::size_t steps_left = 0;  // including this one; undecided cases may add more
  // Estimated from the pace so far; nullopt for the first step
  std::optional<Nanoseconds> time_left = {};
};

// Maximum number of cases whose duets run in the same two workers. Workers are shared because
// starting them and filling the rotation for cold caches takes longer than a duet's samples.
inline constexpr std::size_t kMaxCasesPerWorkers = 8;

// The two workers of a duet. They run duets of up to kMaxCasesPerWorkers cases before new workers
// replace them. No two duets of one case use the same workers, so that these duets are independent.
class DuetWorkers {
 public:
  // The sessions must outlive this object. `pause` sleeps for the given time.
  DuetWorkers(WorkerSession& base, WorkerSession& candidate,
              std::function<void(Nanoseconds)> pause);

  WorkerSession& base() { return base_; }
  WorkerSession& candidate() { return candidate_; }
  void pause(Nanoseconds time) const { pause_(time); }

  // Registers the cases whose duet runs next. Ends the workers first if they already served this
  // pair of cases or the maximum number of pairs, or if the thread count of a side differs.
  void begin(const Case& base, const Case& candidate);
  // Whether the workers have also served cases other than that of the last begin().
  bool are_shared() const { return served_.size() > 1; }
  // Ends the workers. run_duet() starts new ones.
  void finish();

 private:
  WorkerSession& base_;
  WorkerSession& candidate_;
  std::function<void(Nanoseconds)> pause_;
  std::set<std::pair<std::string, std::string>> served_;  // ids of the cases, base and candidate
  std::pair<WorkerThreads, WorkerThreads> threads_;
};

// Runs one duet. Starts missing workers and leaves them running for the next duet. If a worker does
// not start, its side fails. If workers that also served other cases fail, run_duet() tries again
// with new workers: another case may have caused the failure.
DuetResult run_duet(DuetWorkers& workers, const DuetRequest& request);

}  // namespace bench
