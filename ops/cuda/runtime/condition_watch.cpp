// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/condition_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::ops::cuda {
namespace {

// Maximum age of a reading that still describes the conditions before a sample.
constexpr Nanoseconds kOldest = std::chrono::milliseconds(50);
// If a reading takes less than this, one follows every sample. Slower readings are made before and
// after a sample, but so rarely that both take at most a twentieth of the time.
constexpr Nanoseconds kQuick = std::chrono::microseconds(200);
constexpr std::int64_t kPause = 40;

}  // namespace

void ConditionWatch::read() {
  const Nanoseconds begin = now_();
  latest_ = read_();
  read_at_ = now_();
  const Nanoseconds cost = read_at_ - begin;
  interval_ = cost > kQuick ? cost * kPause : Nanoseconds(0);
  if (latest_) latest_->at = begin;
}

void ConditionWatch::sample_begins() {
  judging_ = false;
  if (!read_) return;
  const Nanoseconds age = now_() - read_at_;
  const bool usable = latest_ && interval_.count() == 0 && age <= kOldest;
  if (!usable) {
    if (read_at_.count() != 0 && age < interval_) return;
    read();
  }
  judging_ = latest_.has_value();
}

SampleAssessment ConditionWatch::sample_ends(const ClockEvidence& clock) {
  if (!judging_) return judge({}, {}, clock);
  const DeviceConditions before = *latest_;
  read();
  return latest_ ? judge(before, *latest_, clock) : judge({}, {}, clock);
}

std::string ConditionWatch::unknown_conditions() const {
  if (!read_) return absence_.empty() ? "" : fmt::format("everything: {}", absence_);
  if (!latest_) return "";
  return fmt::format("{}", fmt::join(cuda::unknown_conditions(*latest_), ", "));
}

}  // namespace bench::ops::cuda
