// SPDX-License-Identifier: Apache-2.0
// What a case's summary says of samples on a device's clock, from its processes. For summary.cpp.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <span>

namespace bench {

// Of the kernel's details (docs/plugins.md): what a launch of nothing takes.
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";
// An iteration below so many times that is the launch's time rather than the kernel's: gpu.md 5.2.
inline constexpr std::int64_t kLaunchBoundFactor = 5;
// From this share of the samples on, what happened to them is said of the case: a single event
// among hundreds of samples moves no median.
inline constexpr double kRemarkableShare = 0.05;

// Nearest integer; samples and iterations are positive.
Nanoseconds per_iteration(Nanoseconds sample, std::int64_t iterations);

// Flags stay sorted and unique.
void set_flag(CaseRecord& record, Flag flag);

// host_launch, clock_hz, sample_method, voided, throttled, unsteady_clock and setup. Processes may
// be without samples.
void fill_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);
// voided_samples, throttled, unsteady, launch_bound, of a case with its time and device's part.
void flag_device_part(CaseRecord& record, std::span<const ProcessRecord* const> processes);

}  // namespace bench
