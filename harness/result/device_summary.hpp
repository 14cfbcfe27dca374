// SPDX-License-Identifier: Apache-2.0
// Summarises samples on a device's clock, from a case's processes. For summary.cpp.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <span>

namespace bench {

// A detail of the kernel (docs/plugins.md): the time of an empty launch.
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";
// An iteration shorter than this multiple of an empty launch mainly measures the launch: gpu.md
// 5.2.
inline constexpr std::int64_t kLaunchBoundFactor = 5;
// Fraction of the samples from which a condition becomes a flag of the case. A single event among
// hundreds of samples does not change a median.
inline constexpr double kRemarkableShare = 0.05;

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
