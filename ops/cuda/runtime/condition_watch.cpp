// SPDX-License-Identifier: Apache-2.0
#include "ops/cuda/runtime/condition_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bench::ops::cuda {
namespace {

// Maximum age of a reading that still describes the conditions before a sample.
constexpr Nanoseconds kMaxAge = std::chrono::milliseconds(50);
// If a reading takes at most this long, one follows every sample.
constexpr Nanoseconds kMaxQuickReading = std::chrono::microseconds(200);
// The interval between two samples with slow readings is this many times the duration of a reading:
// the readings before and after a sample take at most a twentieth of the time.
constexpr std::int64_t kIntervalFactor = 40;

}  // namespace

void ConditionWatch::read() {
  const Nanoseconds begin = clock_();
  latest_ = reader_();
  read_at_ = clock_();
  const Nanoseconds duration = read_at_ - begin;
  interval_ = duration > kMaxQuickReading ? duration * kIntervalFactor : Nanoseconds(0);
  if (latest_) latest_->at = begin;
}

void ConditionWatch::sample_begins() {
  has_reading_before_ = false;
  if (!reader_) return;
  const Nanoseconds age = clock_() - read_at_;
  const bool is_usable = latest_ && interval_.count() == 0 && age <= kMaxAge;
  if (!is_usable) {
    if (read_at_.count() != 0 && age < interval_) return;
    read();
  }
  has_reading_before_ = latest_.has_value();
}

SampleAssessment ConditionWatch::sample_ends(const ClockEvidence& clock) {
  if (!has_reading_before_) return judge_unread(assessment_, clock);
  const DeviceConditions before = *latest_;
  read();
  assessment_ = latest_ ? judge(before, *latest_, clock) : judge({}, {}, clock);
  return assessment_;
}

std::string ConditionWatch::unknown_conditions() const {
  if (!reader_)
    return unavailable_reason_.empty() ? "" : fmt::format("everything: {}", unavailable_reason_);
  if (!latest_) return "";
  return fmt::format("{}", fmt::join(cuda::unknown_conditions(*latest_), ", "));
}

}  // namespace bench::ops::cuda
