// SPDX-License-Identifier: Apache-2.0
// Finds what else differs between two sides whose times are compared: implementation, libraries,
// machine, device. Pure functions.
#pragma once

#include "harness/result/measured.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One property that differs between the two sides.
struct Change {
  std::string field;                    // "implementation", "library.onednn"
  std::optional<std::string> from, to;  // values; nullopt if the side lacks the property
  friend bool operator==(const Change&, const Change&) = default;
};

// Returns the differences between two sets of facts, ordered by name.
std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to);

// Returns library versions as facts named "library.onednn", ...
std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries);

// Returns the facts of two runs and their machines that differ and may affect times. Skips facts
// that vary from run to run, such as the load.
std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to);

// Returns the exact properties of a case that differ. Skips facts that only one side recorded (a
// difference of tool versions) and digests that vary from process to process.
std::vector<Change> case_changes(const ExactProperties& from, const ExactProperties& to);

// Returns both values, "jit:avx2 -> jit:sse41"; "n/a" replaces a missing value.
std::string format_values(const Change& change);
// Returns fields and values: "implementation jit:avx2 -> jit:sse41; memory ...". Empty if nothing
// changed.
std::string format_changes(const std::vector<Change>& changes);

// Two times of a device are comparable only if they were measured under equal conditions. A GPU at
// another clock or with another driver counts as another machine (docs/gate.md).

// The median clocks of comparable times differ by at most this fraction: so much is measurement
// noise, not another state of the device.
inline constexpr double kComparableClocks = 0.03;

// How a sentence names the two sides, such as "in the store" and "here".
struct SidePhrases {
  std::string_view from, to;
};

// Returns the first condition that differs, with both values: "gpu.ecc differs: on in the store,
// off here". Returns nullopt if the times are comparable or a side has no device. If a side does
// not know its clock or its method, they count as equal.
std::optional<std::string> device_difference(const MeasuredCase& from, const MeasuredCase& to,
                                             const SidePhrases& phrases);

}  // namespace bench
