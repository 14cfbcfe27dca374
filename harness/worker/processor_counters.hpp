// SPDX-License-Identifier: Apache-2.0
// Hardware counters of the processor for the counters pass of a case on the CPU: what the GPU's
// range profiler is for a case on a device.
#pragma once

#include "base/env.hpp"
#include "base/units.hpp"
#include "harness/host/perf_events.hpp"
#include "ops/backend/device_counters.hpp"

#include <chrono>
#include <cstdint>

namespace bench {

// A measurement repeats the rotation at least this often and this long. Starting and stopping the
// counters then costs less than a thousandth of it.
inline constexpr std::int64_t kMinCountedExecutions = 5;
inline constexpr Nanoseconds kCountedTime = std::chrono::milliseconds(50);
// A miss of the last-level cache moves one line of this size.
inline constexpr double kCacheLineBytes = 64;

// Readings, each the mean of one execution over all threads of the process in user mode: "cycles",
// "instructions", "llc_misses"; from these "instructions_per_cycle" and "llc_miss_bytes". If the
// kernel counted for a part of the time, the values are scaled to the whole and "counted_share" is
// that part, a fraction of 1. Threads that start while the counters run would be missing: this is
// `unsupported`, as are counters that cannot be opened.
class ProcessorCounters final : public ops::DeviceCounters {
 public:
  // References must outlive it.
  ProcessorCounters(PerfEvents& events, Clock& clock) : events_(events), clock_(clock) {}
  Result<CounterReadings, ops::BackendError> measure(
      std::span<ops::Invocation* const> rotation) override;

 private:
  PerfEvents& events_;
  Clock& clock_;
};

}  // namespace bench
