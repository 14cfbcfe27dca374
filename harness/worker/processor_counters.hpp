// SPDX-License-Identifier: Apache-2.0
// Reads hardware counters of the processor for the counters pass of a case on the CPU. A case on a
// GPU uses the GPU's range profiler instead.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "harness/host/perf_events.hpp"
#include "ops/backend/device_counters.hpp"

#include <chrono>
#include <cstdint>

namespace bench {

// Minimum number of executions and minimum duration of a measurement. Starting and stopping the
// counters then takes less than a thousandth of the time.
inline constexpr std::int64_t kMinCountedExecutions = 5;
inline constexpr Nanoseconds kMinCountedTime = std::chrono::milliseconds(50);
// Size of a cache line, the data that a miss of the last-level cache transfers.
inline constexpr double kCacheLineBytes = 64;

// Reads "cycles", "instructions" and "llc_misses", and derives "instructions_per_cycle" and
// "llc_miss_bytes". Each reading is a mean per execution: the sum over all threads of the process,
// in user mode. If the operating system counted only during a part of the time, the values are
// scaled up and "counted_share" is the counted fraction. Returns `unsupported` if no counter can be
// opened, or if threads start or end during the measurement, because their work would be missing.
class ProcessorCounters final : public ops::DeviceCounters {
 public:
  // Both references must outlive the object.
  ProcessorCounters(PerfEvents& events, Clock& clock) : events_(events), clock_(clock) {}
  Result<CounterReadings, ops::BackendError> measure(
      std::span<ops::Invocation* const> rotation) override;

 private:
  PerfEvents& events_;
  Clock& clock_;
};

}  // namespace bench
