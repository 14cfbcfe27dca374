// SPDX-License-Identifier: Apache-2.0
// Joins what samples on a device's clock report besides their time, and summarises it per case.
#pragma once

#include "harness/result/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench {

// SampleRemarks counts a device's remarks by reason, so that a thousand remarks give a few rows.

// Number of reasons; further ones are counted as kOtherReasons.
inline constexpr std::size_t kMaxReasons = 8;
inline constexpr const char* kOtherReasons = "other reasons";

// Adds a remark `times` times. A reason that differs from a known one only in its numbers counts as
// the known one.
void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times = 1);
// Adds `from` to `to`; does nothing if `from` has none.
void add_remarks(SampleRemarks& to, const SampleRemarks& from);
// Returns the most frequent reason, the first by name among equals. Empty if there is none.
std::string most_frequent_reason(const SampleRemarks& remarks);

// Appends the samples of a further round.
void append(DeviceSamples& samples, const DeviceSamples& more);
// Clears the lists that do not cover each of `count` samples.
void drop_incomplete_lists(DeviceSamples& samples, std::size_t count);

// Returns "all 18 samples were discarded, most often: SM clock ...".
std::string format_discarded(const SampleRemarks& voided);

// What follows summarises a case's samples on a device's clock, for summary.cpp.

// An iteration shorter than this multiple of an empty launch mainly measures the launch: see
// docs/cuda.md, "Short operators".
inline constexpr std::int64_t kLaunchBoundFactor = 5;
// A case gets the flag `throttled` or `unsteady` if at least this fraction of its samples has that
// condition. A single event among hundreds of samples does not change a median.
inline constexpr double kMinFlaggedFraction = 0.05;

// Divides and rounds to the nearest integer; samples and iterations must be positive.
Nanoseconds per_iteration(Nanoseconds sample, std::int64_t iterations);

// Adds a flag; flags stay sorted and unique.
void set_flag(CaseRecord& record, Flag flag);

// Fills host_launch, clock_hz, sample_method, voided, throttled, unsteady_clock and setup. Accepts
// processes without samples.
void fill_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);
// Sets voided_samples, throttled, unsteady and launch_bound. Requires the case's time and device
// part.
void flag_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);

}  // namespace bench
