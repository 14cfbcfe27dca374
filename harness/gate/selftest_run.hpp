// SPDX-License-Identifier: Apache-2.0
// Measures what `bench selftest` reports: A/A duets, duets with an injected slowdown, the clock,
// and the overhead of harness and profiler.
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
// After one in this many A/A duets of a case follows a duet with an injected slowdown. So few are
// enough to show that the slowdown is measured correctly.
inline constexpr int kInjectedEvery = 5;

struct SelfTestTask {
  const Plan* plan = nullptr;
  std::uint64_t seed = 1;
  int duets = 40;                     // A/A duets per case
  std::optional<Nanoseconds> budget;  // time limit of all measurements
};

struct SelfTestParts {
  WorkerFactory start;         // starts a normal worker, for either side
  WorkerFactory start_slowed;  // starts a worker whose kernels are slower by kInjectedSlowdown
  HelloRequest hello;
  std::function<void(Nanoseconds)> pause;         // sleeps
  std::function<bool()> interrupted;              // whether the user has interrupted the self-test
  std::function<void(const GateStep&)> progress;  // called before each A/A duet; may be empty
};

// Measures the clock by many reads in succession.
TimerFacts measure_timer(Clock& clock);

// Runs the self-test once. Interleaves the cases, so that the duets of each case cover its whole
// duration. If the budget is spent or the user interrupts, returns the results so far. Returns an
// error if a worker cannot be started or a case cannot be measured.
Result<SelfTest> measure_self_test(const SelfTestTask& task, const SelfTestParts& parts,
                                   Clock& clock);

}  // namespace bench
