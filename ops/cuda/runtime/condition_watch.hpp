// SPDX-License-Identifier: Apache-2.0
// Reads a device's conditions around samples, at a rate that makes the cost of reading negligible.
#pragma once

#include "base/units.hpp"
#include "ops/cuda/runtime/conditions.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bench::ops::cuda {

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
