// SPDX-License-Identifier: Apache-2.0
// The rules, one per row: rules that void a sample come before rules that mark it as throttled.
#include "ops/cuda/runtime/conditions.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace bench::ops::cuda {
namespace {

// A counter that grew by more than this fraction of the time between the two readings marks the
// sample as throttled. The driver counts in steps of up to 0.1 s, so in a short sample any growth
// exceeds the limit.
constexpr double kThrottledFraction = 0.01;
// A sample whose clock differs from the median by more than this fraction is unsteady. `compare`
// uses the same limit for the clocks of two runs (kComparableClocks in harness/judge/change.hpp).
constexpr double kUnsteadyClock = 0.03;
constexpr std::size_t kMinClocks = 5;
constexpr std::size_t kMaxClocks = 101;

struct XidName {
  std::int64_t number;
  std::string_view name;
};
// The errors of NVIDIA's "Xid Errors" that a benchmark may cause.
constexpr std::array<XidName, 12> kXids = {{{13, "graphics engine exception"},
                                            {31, "memory page fault"},
                                            {43, "the device stopped processing"},
                                            {45, "work was removed after an earlier error"},
                                            {48, "double-bit ECC error"},
                                            {62, "halt of the internal micro-controller"},
                                            {63, "a row of memory is to be replaced"},
                                            {74, "NVLink error"},
                                            {79, "the device has fallen off the bus"},
                                            {94, "contained ECC error"},
                                            {95, "uncontained ECC error"},
                                            {119, "the system processor does not answer"}}};

using Counter = std::optional<Nanoseconds> DeviceConditions::*;

struct CounterRule {
  Counter counter;
  std::int64_t reason;  // bit of clock_reasons (NVML) that has the same cause as the counter
  SampleVerdict verdict;
  std::string_view what;
};
constexpr std::int64_t kHardwareSlowdown = 0x8;
constexpr std::array<CounterRule, 5> kCounters = {
    {{&DeviceConditions::hardware_thermal, 0x40, SampleVerdict::voided,
      "the hardware slowed the clock down: too hot"},
     {&DeviceConditions::power_brake, 0x80, SampleVerdict::voided,
      "the power supply slowed the clock down (power brake)"},
     {&DeviceConditions::power_cap, 0x4, SampleVerdict::throttled,
      "the clock was throttled by the power limit"},
     {&DeviceConditions::software_thermal, 0x20, SampleVerdict::throttled,
      "the clock was throttled by temperature"},
     {&DeviceConditions::sync_boost, 0x10, SampleVerdict::throttled,
      "the clock was throttled by another device's (sync boost)"}}};

// Returns how much the counter grew, or nullopt if it is unknown at either end or was reset.
std::optional<Nanoseconds> compute_growth(const DeviceConditions& before,
                                          const DeviceConditions& after, Counter counter) {
  if (!(before.*counter) || !(after.*counter) || *(after.*counter) < *(before.*counter)) {
    return std::nullopt;
  }
  return *(after.*counter) - *(before.*counter);
}

// Returns whether the rule applies to a sample; `throttled_time` receives how long its cause
// lasted. A cause that voids a sample applies however short it was, because it can halve the clock.
bool applies(const CounterRule& rule, const DeviceConditions& before, const DeviceConditions& after,
             Nanoseconds& throttled_time) {
  const auto growth = compute_growth(before, after, rule.counter);
  const auto active_reasons = after.clock_reasons.value_or(0) & rule.reason;
  if (!growth) return active_reasons != 0;
  throttled_time = *growth;
  if (rule.verdict == SampleVerdict::voided) return growth->count() > 0 || active_reasons != 0;
  const auto window = static_cast<double>((after.at - before.at).count());
  return static_cast<double>(growth->count()) > kThrottledFraction * window || active_reasons != 0;
}

std::optional<SampleAssessment> assess_counters(const DeviceConditions& before,
                                                const DeviceConditions& after,
                                                SampleVerdict verdict) {
  for (const CounterRule& rule : kCounters) {
    Nanoseconds throttled_time{0};
    if (rule.verdict != verdict || !applies(rule, before, after, throttled_time)) continue;
    std::string reason(rule.what);
    if (throttled_time.count() > 0) reason += fmt::format(" for {}", format_time(throttled_time));
    return SampleAssessment{verdict, reason};
  }
  return std::nullopt;
}

std::string format_xid(std::int64_t number) {
  const auto row = std::find_if(kXids.begin(), kXids.end(),
                                [&](const XidName& xid) { return xid.number == number; });
  return row == kXids.end() ? fmt::format("Xid {}", number)
                            : fmt::format("Xid {} ({})", number, row->name);
}

// Returns the first critical error that occurred between the two readings.
std::optional<std::string> new_xid(const DeviceConditions& before, const DeviceConditions& after) {
  if (!before.xid_errors || !after.xid_errors) return std::nullopt;
  const std::size_t old_count = before.xid_errors->size();
  if (after.xid_errors->size() <= old_count) return std::nullopt;
  return format_xid((*after.xid_errors)[old_count]);
}

std::optional<SampleAssessment> assess_events(const DeviceConditions& before,
                                              const DeviceConditions& after) {
  const auto voided = [](std::string reason) {
    return SampleAssessment{SampleVerdict::voided, std::move(reason)};
  };
  if ((after.clock_reasons.value_or(0) & kHardwareSlowdown) != 0) {
    return voided("the hardware slowed the clock down");
  }
  const std::int64_t others =
      std::max(before.other_processes.value_or(0), after.other_processes.value_or(0));
  if (others > 0) {
    return voided(pluralise(others, "other process") + " computed on the device");
  }
  if (before.performance_state && after.performance_state &&
      *before.performance_state != *after.performance_state) {
    return voided(fmt::format("the performance state changed from P{} to P{}",
                              *before.performance_state, *after.performance_state));
  }
  if (before.memory_errors && after.memory_errors && *after.memory_errors > *before.memory_errors) {
    return voided("the device's memory had uncorrectable errors (ECC)");
  }
  if (const auto xid = new_xid(before, after)) {
    return voided("the driver reported a critical error: " + *xid);
  }
  return std::nullopt;
}

std::string format_clock_evidence(const ClockEvidence& clock) {
  constexpr double kMega = 1e6;
  return fmt::format("the clock was {:.0f} MHz, {:.0f} MHz in the samples before",
                     static_cast<double>(*clock.sample_hz) / kMega,
                     static_cast<double>(*clock.median_hz) / kMega);
}

}  // namespace

SampleAssessment judge(const DeviceConditions& before, const DeviceConditions& after,
                       const ClockEvidence& clock) {
  if (auto found = assess_counters(before, after, SampleVerdict::voided)) return *std::move(found);
  if (auto found = assess_events(before, after)) return *std::move(found);
  const bool is_comparable = clock.sample_hz && clock.median_hz && *clock.median_hz > 0;
  const double clock_ratio =
      is_comparable ? static_cast<double>(*clock.sample_hz) / static_cast<double>(*clock.median_hz)
                    : 1.0;
  if (auto found = assess_counters(before, after, SampleVerdict::throttled))
    return *std::move(found);
  if (std::abs(clock_ratio - 1.0) > kUnsteadyClock)
    return {SampleVerdict::unsteady, format_clock_evidence(clock)};
  return {};
}

SampleAssessment judge_unread(const SampleAssessment& latest, const ClockEvidence& clock) {
  if (latest.verdict != SampleVerdict::throttled) return judge({}, {}, clock);
  return {SampleVerdict::throttled, latest.reason + " when it was last read"};
}

std::vector<std::string> unknown_conditions(const DeviceConditions& conditions) {
  struct Row {
    bool is_known;
    std::string_view what;
  };
  const Row rows[] = {
      {conditions.power_cap.has_value(), "time at the power limit"},
      {conditions.software_thermal && conditions.hardware_thermal, "time throttled by temperature"},
      {conditions.power_brake.has_value(), "time of power brakes"},
      {conditions.clock_reasons.has_value(), "reasons for throttling"},
      {conditions.performance_state.has_value(), "performance state"},
      {conditions.other_processes.has_value(), "other processes"},
      {conditions.memory_errors.has_value(), "errors of memory (ECC)"},
      {conditions.xid_errors.has_value(), "critical errors (Xid)"}};
  std::vector<std::string> unknown;
  for (const Row& row : rows) {
    if (!row.is_known) unknown.emplace_back(row.what);
  }
  return unknown;
}

void ClockHistory::add(std::int64_t hertz) {
  if (latest_clocks_.size() < kMaxClocks) {
    latest_clocks_.push_back(hertz);
    return;
  }
  latest_clocks_[oldest_] = hertz;
  oldest_ = (oldest_ + 1) % kMaxClocks;
}

std::optional<std::int64_t> ClockHistory::median() const {
  if (latest_clocks_.size() < kMinClocks) return std::nullopt;
  std::vector<std::int64_t> sorted = latest_clocks_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

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
