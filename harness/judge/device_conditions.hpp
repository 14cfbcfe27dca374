// SPDX-License-Identifier: Apache-2.0
// Under which conditions a device was timed, and whether two such times compare at all: a GPU at
// another clock, or under another driver, is another machine. docs/gate.md. Pure functions.
#pragma once

#include "harness/result/record.hpp"
#include "harness/store/record.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Medians of the clocks may differ by this share: noise of what is measured, no other state of the
// device (gpu.md section 7).
inline constexpr double kComparableClocks = 0.03;

struct DeviceConditions {
  std::map<std::string, std::string> facts;  // of the environment: "gpu.name", "gpu.ecc", ...
  std::optional<std::int64_t> clock_hz;      // median
  bool throttled = false;
  std::optional<std::string> sample_method;
};

// Of a case on another device than the CPU; absent for the CPU.
std::optional<DeviceConditions> device_conditions(const CaseRecord& record,
                                                  const EnvironmentRecord& environment);
std::optional<DeviceConditions> device_conditions(const BaselineRecord& record);

// How a sentence names the two sides: "gpu.ecc differs: on in the store, off here".
struct SideWords {
  std::string_view from, to;
};

// The first condition that differs, with both values; absent where the times compare. A clock or
// method that one side does not know is no difference.
std::optional<std::string> device_difference(const DeviceConditions& from,
                                             const DeviceConditions& to, const SideWords& words);

}  // namespace bench
