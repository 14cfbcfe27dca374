// SPDX-License-Identifier: Apache-2.0
// Merges what samples on a device's clock report besides their time, and summarises it per case.
#pragma once

#include "harness/result/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

// SampleRemarks counts a device's remarks by reason, so that a thousand remarks need a few rows.

// Maximum number of reasons in SampleRemarks. Further reasons are counted as kOtherReasons.
inline constexpr std::size_t kMaxReasons = 8;
inline constexpr const char* kOtherReasons = "other reasons";

// Adds a remark `times` times. A reason that differs from an existing one only in its numbers
// counts as the existing one.
void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times = 1);
// Adds the remarks `more` to `sum`.
void add_remarks(SampleRemarks& sum, const SampleRemarks& more);
// Returns the most frequent reason; among equally frequent ones, the first in alphabetical order.
// Empty if there is none.
std::string most_frequent_reason(const SampleRemarks& remarks);

// Appends the samples of a further round.
void append(DeviceSamples& samples, const DeviceSamples& more);
// Clears each list that does not have exactly `count` values, one per sample.
void drop_incomplete_lists(DeviceSamples& samples, std::size_t count);

// Returns "all 18 samples were discarded, most often: SM clock ...".
std::string format_discarded(const SampleRemarks& voided);

// The following functions summarise a case's samples on a device's clock, for summary.cpp.

// A case gets the flag `launch_bound` if its iteration is shorter than this multiple of an empty
// launch. It then mainly measures the launch: see docs/cuda.md, "Short operators".
inline constexpr std::int64_t kLaunchBoundFactor = 5;
// A case gets the flag `throttled` or `unsteady` if at least this fraction of its samples has such
// a remark. A single remark among hundreds of samples does not affect a median.
inline constexpr double kMinFlaggedFraction = 0.05;

// Returns sample / iterations, rounded to the nearest integer. `sample` must not be negative, and
// `iterations` must be positive.
Nanoseconds per_iteration(Nanoseconds sample, std::int64_t iterations);

// Adds a flag and keeps the flags sorted and unique.
void set_flag(CaseRecord& record, Flag flag);

// Fills host_launch, clock_hz, the details clock.burst_hz and clock.steady_hz, sample_method,
// voided, throttled, unsteady_clock and setup. Accepts processes without samples.
void fill_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);
// Sets voided_samples, throttled, unsteady and launch_bound. Requires the case's time and device
// part.
void flag_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);

}  // namespace bench
