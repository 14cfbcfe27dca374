// SPDX-License-Identifier: Apache-2.0
// Measures what `bench selftest` reports: A/A duets, duets with an injected slowdown, the timer,
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
// One in this many duets has an injected slowdown: enough to show that it is measured correctly.
inline constexpr int kInjectedEvery = 5;

struct SelfTestTask {
  const Plan* plan = nullptr;
  std::uint64_t seed = 1;
  int duets = 40;  // A/A duets per case
  std::optional<Nanoseconds> budget;
};

struct SelfTestParts {
  WorkerFactory start;         // for either side
  WorkerFactory start_slowed;  // by kInjectedSlowdown
  HelloRequest hello;
  std::function<void(Nanoseconds)> pause;
  std::function<bool()> interrupted;
  std::function<void(const GateStep&)> progress;
};

// Reads the clock many times in succession.
TimerFacts measure_timer(Clock& clock);

// Interleaves the cases, so that each covers the whole sitting. Ends early with the results so far
// if the budget is over or the user interrupts. Returns an error if a worker cannot be started or a
// case cannot be measured.
Result<SelfTest> measure_self_test(const SelfTestTask& task, const SelfTestParts& parts,
                                   Clock& clock);

}  // namespace bench
