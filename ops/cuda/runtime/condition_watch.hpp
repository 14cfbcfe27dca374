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

// For consecutive samples, the reading after one sample is also the reading before the next. If
// reading is slow, most samples have a clock but no conditions.
class ConditionWatch {
 public:
  // `read` may be empty: conditions are then never known, and `absence` is the reason for
  // details().
  ConditionWatch(ConditionReader read, std::string absence, HostClock now)
      : read_(std::move(read)), absence_(std::move(absence)), now_(std::move(now)) {}

  void sample_begins();
  SampleAssessment sample_ends(const ClockEvidence& clock);

  // What cannot be judged and why, human-readable. Empty if everything can be judged.
  std::string unknown_conditions() const;
  // Minimum time between two samples with readings. 0: every sample has them.
  Nanoseconds interval() const { return interval_; }

 private:
  void read();

  ConditionReader read_;
  std::string absence_;
  HostClock now_;
  std::optional<DeviceConditions> latest_;
  Nanoseconds read_at_{0};
  Nanoseconds interval_{0};
  bool judging_ = false;  // latest_ was read before the current sample
};

}  // namespace bench::ops::cuda
