// SPDX-License-Identifier: Apache-2.0
// Asks for a device's conditions around samples, so often that asking takes no time worth
// mentioning.
#pragma once

#include "base/units.hpp"
#include "ops/cuda/runtime/conditions.hpp"

#include <functional>
#include <optional>
#include <string>

namespace bench::ops::cuda {

// Absent: the driver says nothing now.
using ConditionReader = std::function<std::optional<DeviceConditions>()>;
using HostClock = std::function<Nanoseconds()>;

// Samples follow each other: what is read behind one stands before the next. Where reading is slow,
// most samples have a clock and no conditions.
class ConditionWatch {
 public:
  // `read` may be empty: nothing is ever known. `absence`: why, for details().
  ConditionWatch(ConditionReader read, std::string absence, HostClock now)
      : read_(std::move(read)), absence_(std::move(absence)), now_(std::move(now)) {}

  void sample_begins();
  Judgement sample_ends(const ClockEvidence& clock);

  // What cannot be judged and why, for people; empty: everything can.
  std::string unknown() const;
  // Without readings, between two samples that have them; 0: each has.
  Nanoseconds interval() const { return interval_; }

 private:
  void read();

  ConditionReader read_;
  std::string absence_;
  HostClock now_;
  std::optional<DeviceConditions> latest_;
  Nanoseconds read_at_{0};
  Nanoseconds interval_{0};
  bool judging_ = false;  // latest_ stands before the sample that runs
};

}  // namespace bench::ops::cuda
