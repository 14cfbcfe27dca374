// SPDX-License-Identifier: Apache-2.0
// What a device went through during a sample, and what that says of the sample. Pure.
#pragma once

#include "base/units.hpp"
#include "ops/backend/device.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// At one moment, as the driver says it. Absent: it does not say, and nothing follows from it.
struct DeviceConditions {
  Nanoseconds at{0};  // of the host
  // How long the clock has been held back since the driver was loaded, by reason.
  std::optional<Nanoseconds> power_cap, sync_boost, hot_software, hot_hardware, power_brake;
  std::optional<std::int64_t> clock_reasons;      // at this moment, bits of clock_reason_names
  std::optional<std::int64_t> performance_state;  // 0 is the fastest
  std::optional<std::int64_t> other_processes;    // with work on the device
  std::optional<std::int64_t> memory_errors;      // that could not be corrected, so far
  std::optional<std::int64_t> power_milliwatt;    // at this moment
  // Critical errors that the driver reported since it is watched, by their numbers.
  std::optional<std::vector<std::int64_t>> xid_errors{};
};

// The processors' clock during a sample, and in the kernel's samples before it.
struct ClockEvidence {
  std::optional<std::int64_t> sample_hz;
  std::optional<std::int64_t> median_hz;  // absent: too few samples
};

struct Judgement {
  SampleVerdict verdict = SampleVerdict::counted;
  std::string reason;  // empty: counted
};

// Voided: the hardware took half of the clock or more (too hot, power brake), another process was
// there, the performance state changed, memory failed, or the driver reported a critical error.
// Throttled: held back by power,
// temperature or another device's clock for more than 1 % of the time. Unsteady: a clock more than
// 3 % off its median; whether that voids the sample is for who knows all samples of the case. The
// first that holds counts.
Judgement judge(const DeviceConditions& before, const DeviceConditions& after,
                const ClockEvidence& clock);

// What the driver does not tell, in words: {"other processes"}. Empty: it tells everything.
std::vector<std::string> unknown_conditions(const DeviceConditions& conditions);

// The clocks of one kernel's samples.
class ClockHistory {
 public:
  void add(std::int64_t hertz);
  // Of the latest samples; absent before there are enough of them.
  std::optional<std::int64_t> median() const;

 private:
  std::vector<std::int64_t> latest_;
  std::size_t next_ = 0;
};

}  // namespace bench::ops::cuda
