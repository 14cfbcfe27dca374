// SPDX-License-Identifier: Apache-2.0
// Measures what `bench selftest` reports: duets of equal sides, duets with an injected slowdown,
// the timer, and what harness and profiler cost.
#pragma once

#include "harness/config/plan.hpp"
#include "harness/gate/duet.hpp"
#include "harness/gate/measurer.hpp"
#include "harness/gate/selftest.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

inline constexpr double kInjectedSlowdown = 0.03;
// One of so many duets has it: enough to show that it is seen as what it is.
inline constexpr int kInjectedEvery = 5;

struct SelfTestTask {
  const Plan* plan = nullptr;
  std::uint64_t seed = 1;
  int duets = 40;  // of equal sides, a case
  std::optional<Nanoseconds> budget;
};

struct SelfTestParts {
  WorkerFactory start;         // either side
  WorkerFactory start_slowed;  // by kInjectedSlowdown
  HelloRequest hello;
  std::function<void(Nanoseconds)> pause;
  std::function<bool()> interrupted;
  std::function<void(const GateStep&)> progress;
};

// Reads of the clock, in a row.
TimerFacts measure_timer(Clock& clock);

// Cases in turns, so that each sees the whole sitting. Ends early, with what there is, when the
// budget is over or the user interrupts. Error: a worker cannot be started, or a case cannot be
// measured.
Result<SelfTest> measure_self_test(const SelfTestTask& task, const SelfTestParts& parts,
                                   Clock& clock);

}  // namespace bench
