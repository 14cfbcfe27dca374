// SPDX-License-Identifier: Apache-2.0
// What samples on a device's clock report besides their time, on the way from the sampler to the
// process record.
#pragma once

#include "harness/result/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Counts a device's remarks about samples, so that a thousand remarks give a few rows.

// Further reasons are counted as kOtherReasons.
inline constexpr std::size_t kMaxReasons = 8;
inline constexpr const char* kOtherReasons = "other reasons";

// Adds a remark `times` times. A reason that differs from a known one only in its numbers counts as
// the known one.
void add_remark(SampleRemarks& remarks, const std::string& reason, std::int64_t times = 1);
// Adds `from` to `to`; does nothing if `from` is nullopt.
void add_remarks(std::optional<SampleRemarks>& to, const std::optional<SampleRemarks>& from);
// Returns the most frequent reason, the first by name among equals. Empty if there is none.
std::string most_frequent_reason(const SampleRemarks& remarks);

// Fields as in ProcessRecord, except `details`, which belong to the case. Remarks with count 0 mean
// that there are none.
struct DeviceSamples {
  std::vector<Nanoseconds> host_launch;
  std::vector<std::int64_t> clock_hz;
  std::optional<std::string> sample_method;
  SampleRemarks voided, throttled, unsteady_clock;
  // Details of the kernel that sampling added or changed.
  std::map<std::string, std::string> details{};
  friend bool operator==(const DeviceSamples&, const DeviceSamples&) = default;
};

// Appends the samples of a further round.
void append(DeviceSamples& samples, const DeviceSamples& more);
// Writes `samples` to `record`, which already has its sample times. Omits a list that does not
// cover every sample.
void describe(const DeviceSamples& samples, ProcessRecord& record);

// Returns "all 18 samples were discarded, most often: SM clock ...".
std::string void_text(const SampleRemarks& voided);

// Summarises samples on a device's clock, from a case's processes. For summary.cpp.

// A detail of the kernel (docs/plugins.md): the time of an empty launch.
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";
// The detail's value. nullopt if the record has none.
std::optional<Nanoseconds> launch_floor(const CaseRecord& record);
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
