// SPDX-License-Identifier: Apache-2.0
// The conditions under which a device was timed, and whether two such times are comparable. A GPU
// at another clock or under another driver counts as another machine (docs/gate.md). Pure
// functions.
#pragma once

#include "harness/result/record.hpp"
#include "harness/store/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Median clocks may differ by this fraction. Smaller differences are measurement noise, not another
// state of the device (gpu.md section 7).
inline constexpr double kComparableClocks = 0.03;

struct DeviceConditions {
  std::map<std::string, std::string> facts;  // from the environment: "gpu.name", "gpu.ecc", ...
  std::optional<std::int64_t> clock_hz;      // median
  bool throttled = false;
  std::optional<std::string> sample_method;
};

// Returns the conditions of a case that ran on a device; nullopt for the CPU.
std::optional<DeviceConditions> device_conditions(const CaseRecord& record,
                                                  const EnvironmentRecord& environment);
std::optional<DeviceConditions> device_conditions(const BaselineRecord& record);

// How a sentence names the two sides: "gpu.ecc differs: on in the store, off here".
struct SideWords {
  std::string_view from, to;
};

// Returns the first condition that differs, with both values, or nullopt if the times are
// comparable. A clock or method that one side does not know counts as equal.
std::optional<std::string> device_difference(const DeviceConditions& from,
                                             const DeviceConditions& to, const SideWords& words);

}  // namespace bench
