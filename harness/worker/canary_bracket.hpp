// SPDX-License-Identifier: Apache-2.0
// The canaries before and after each sample (sample_canary.hpp).
#pragma once

#include "base/units.hpp"
#include "harness/worker/rotation.hpp"
#include "harness/worker/sample_canary.hpp"
#include "ops/backend/kernel.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace bench {

// A preemption lengthens a sample by microseconds or milliseconds. Long samples always have some,
// so one preemption is permitted per this time. A shorter sample must have none to count as quiet.
inline constexpr Nanoseconds kTimeOfOnePreemption = std::chrono::milliseconds(50);

// Measures the canaries of one case's samples. The canary after a sample is the one before the
// next.
class CanaryBracket {
 public:
  // `canary`: not owned; null: there are no canaries, and the functions do nothing. `threads`:
  // those of the samples. If they are not the canary's, the canary's sleep before a sample begins.
  CanaryBracket(SampleCanary* canary, ops::KernelThreads threads)
      : canary_(canary), threads_(threads) {}

  // Discards the last canary, because other work may run between two rounds.
  void begin_round() { last_.reset(); }
  void leave_out() { canary_ = nullptr; }
  // Must be called immediately before each sample.
  void open();
  // Adds the canary of a sample that took `time` to `out`; 0 if the sample was preempted. Must be
  // called immediately after the sample.
  void close(Nanoseconds time, RoundSamples& out);

 private:
  SampleCanary* canary_;
  ops::KernelThreads threads_;
  std::optional<Nanoseconds> last_;  // in this round
  std::int64_t preemptions_ = 0;     // before the sample
};

}  // namespace bench
