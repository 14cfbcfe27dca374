// SPDX-License-Identifier: Apache-2.0
// Finds what else differs between two sides whose times are compared. Pure functions.
#pragma once

#include "harness/result/measured.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// One property that differs between the two sides. A side without the property has nullopt.
struct Change {
  std::string field;  // "implementation", "library.onednn"
  std::optional<std::string> from, to;
  friend bool operator==(const Change&, const Change&) = default;
};

// Returns the differences between two sets of facts, ordered by name.
std::vector<Change> changes_between(const std::map<std::string, std::string>& from,
                                    const std::map<std::string, std::string>& to);

// Returns library versions as facts named "library.onednn", ...
std::map<std::string, std::string> library_facts(
    const std::map<std::string, std::string>& libraries);

// Returns the differences between two runs and their machines that may matter. Skips facts that
// differ between any two runs, such as the load, and facts that do not affect times.
std::vector<Change> run_changes(const std::map<std::string, std::string>& from,
                                const std::map<std::string, std::string>& to);

// Returns the exact properties of a case that differ. Skips facts that only one side recorded (a
// difference of tool versions) and digests that vary from process to process.
std::vector<Change> case_changes(const ExactProperties& from, const ExactProperties& to);

// Returns "jit:avx2 -> jit:sse41"; "n/a" stands for a missing value.
std::string format_values(const Change& change);
// Returns "implementation jit:avx2 -> jit:sse41; memory ..."; empty if nothing changed.
std::string format_changes(const std::vector<Change>& changes);

// The conditions under which a device was timed decide whether two times are comparable. A GPU at
// another clock or under another driver counts as another machine (docs/gate.md).

// Median clocks may differ by this fraction. Smaller differences are measurement noise, not another
// state of the device.
inline constexpr double kComparableClocks = 0.03;

// How a sentence names the two sides: "gpu.ecc differs: on in the store, off here".
struct SideWords {
  std::string_view from, to;
};

// Returns the first condition that differs, with both values, or nullopt if the times are
// comparable or a side has no device. A clock or method that one side does not know counts as
// equal.
std::optional<std::string> device_difference(const MeasuredCase& from, const MeasuredCase& to,
                                             const SideWords& words);

}  // namespace bench
