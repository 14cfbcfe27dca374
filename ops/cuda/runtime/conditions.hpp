// SPDX-License-Identifier: Apache-2.0
// A device's conditions during a sample, and what they imply for the sample. The functions have no
// side effects.
#pragma once

#include "base/units.hpp"
#include "ops/backend/device.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench::ops::cuda {

// Conditions at one moment, as the driver reports them. A value that it does not report is nullopt
// and has no consequence.
struct DeviceConditions {
  Nanoseconds at{0};  // on the host's clock
  // How long the clock was throttled since the driver was loaded, by reason.
  std::optional<Nanoseconds> power_cap, sync_boost, software_thermal, hardware_thermal, power_brake;
  std::optional<std::int64_t> clock_reasons;      // at this moment, bits of clock_reason_names
  std::optional<std::int64_t> performance_state;  // 0 is the fastest
  std::optional<std::int64_t> other_processes;  // number of other processes with work on the device
  std::optional<std::int64_t> memory_errors;    // uncorrectable errors so far
  std::optional<std::int64_t> power_milliwatt;  // at this moment
  // Xid numbers of the critical errors that the driver reported since this process registered for
  // them, in the order of the reports.
  std::optional<std::vector<std::int64_t>> xid_errors{};
};

// The multiprocessor clock during a sample and in the kernel's earlier samples.
struct ClockEvidence {
  std::optional<std::int64_t> sample_hz;
  std::optional<std::int64_t> median_hz;  // nullopt if there were too few samples
};

struct SampleAssessment {
  SampleVerdict verdict = SampleVerdict::counted;
  std::string reason;  // empty if counted
};

// Judges a sample. Returns the first verdict that applies:
// voided: the hardware reduced the clock by half or more (too hot, power brake), another process
// used the device, the performance state changed, memory failed, or the driver reported a critical
// error.
// throttled: power, temperature or another device's clock throttled the device for more than 1 % of
// the time, or still throttled it at the end of the sample.
// unsteady: the clock differs from its median by more than 3 %. This does not discard the sample:
// the caller, which knows all samples of the case, decides.
SampleAssessment judge(const DeviceConditions& before, const DeviceConditions& after,
                       const ClockEvidence& clock);

// Judges a sample during which the conditions were not read. `latest` is the assessment of the
// latest sample with readings; what throttled it is assumed to last. Nothing else is known but the
// clock.
SampleAssessment judge_unread(const SampleAssessment& latest, const ClockEvidence& clock);

// Names of the conditions that the driver does not report: {"other processes"}. Empty if it reports
// all.
std::vector<std::string> unknown_conditions(const DeviceConditions& conditions);

// The clocks of one kernel's samples.
class ClockHistory {
 public:
  void add(std::int64_t hertz);
  // Returns the median of the latest samples, or nullopt until there are enough.
  std::optional<std::int64_t> median() const;

 private:
  std::vector<std::int64_t> latest_clocks_;
  std::size_t oldest_ = 0;  // index that the next clock overwrites once the history is full
};

// Reads a device's conditions around samples, at a rate that makes the cost of reading negligible.

// Returns nullopt if the driver reports nothing now.
using ConditionReader = std::function<std::optional<DeviceConditions>()>;
using HostClock = std::function<Nanoseconds()>;

// Assesses samples from the conditions before and after them. For consecutive samples, the reading
// after one sample is also the reading before the next. If reading is slow, most samples are
// assessed only by their clock and by what throttled the latest sample with readings.
class ConditionWatch {
 public:
  // `reader` may be empty: conditions are then never known, and unknown_conditions() reports
  // `unavailable_reason`.
  ConditionWatch(ConditionReader reader, std::string unavailable_reason, HostClock clock)
      : reader_(std::move(reader)),
        unavailable_reason_(std::move(unavailable_reason)),
        clock_(std::move(clock)) {}

  void sample_begins();
  SampleAssessment sample_ends(const ClockEvidence& clock);

  // Names the conditions that are unknown, human-readable. Empty if all are known.
  std::string unknown_conditions() const;
  // Minimum time between two samples with readings. 0: every sample has them.
  Nanoseconds interval() const { return interval_; }

 private:
  void read();

  ConditionReader reader_;
  std::string unavailable_reason_;
  HostClock clock_;
  std::optional<DeviceConditions> latest_;
  SampleAssessment assessment_;  // assessment of the latest sample with readings
  Nanoseconds read_at_{0};
  Nanoseconds interval_{0};
  bool has_reading_before_ = false;  // latest_ describes the start of the current sample
};

}  // namespace bench::ops::cuda
