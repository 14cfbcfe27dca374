// SPDX-License-Identifier: Apache-2.0
// Converts the numbers among the details of a case. Files and messages store them as texts, records
// as fields. The reader of a line parses them once.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// Name of the detail for the time of an empty launch (docs/plugins.md).
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";
// Prefix of kernel details that are times of the parts of its creation, not facts.
inline constexpr std::string_view kSetupDetail = "setup.";

// Removes the detail `name` and returns its value. If there is no such detail, or its text is not
// an integer of at least 0 as std::to_string() writes it, changes nothing and returns nullopt.
std::optional<std::int64_t> take_integer(std::map<std::string, std::string>& details,
                                         const std::string& name);

// Moves the launch floor and the regret of a tuned case (ops/regret.hpp) from the details to their
// fields.
void extract_typed_details(CaseRecord& record);
// Returns the details including the launch floor, as a file stores them.
std::map<std::string, std::string> details_as_texts(const CaseRecord& record);

// Removes the details that are times of the parts of a creation, such as "setup.context_ns".
// Returns the times by names without the prefix: "context_ns". Keeps details that are not valid
// times.
std::map<std::string, Nanoseconds> take_setup(std::map<std::string, std::string>& details);

// Details of a profile pass that both its worker and reports know.

// Present if the steps of the recorded iterations were not awaited one by one.
inline constexpr const char* kUnawaitedStepsDetail = "gpu.steps";

}  // namespace bench
