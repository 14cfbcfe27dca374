// SPDX-License-Identifier: Apache-2.0
// Numbers among the details of a case. Files and messages have them as texts under their names;
// records have them as fields. They are parsed once, where a line is read.
#pragma once

#include "base/units.hpp"
#include "harness/result/record.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

// The time of an empty launch of the kernel (docs/plugins.md).
inline constexpr const char* kLaunchFloorDetail = "launch_floor_ns";
// Prefix of kernel details that are parts of its creation: times, not facts.
inline constexpr std::string_view kSetupDetail = "setup.";

// Removes the detail `name` and returns its value. If its text is not that of an integer, the
// detail stays and the result is nullopt.
std::optional<std::int64_t> take_integer(std::map<std::string, std::string>& details,
                                         const std::string& name);

// Moves the launch floor from the details to its field.
void take_typed_details(CaseRecord& record);
// Returns the details with the launch floor among them, as a file has them.
std::map<std::string, std::string> details_as_texts(const CaseRecord& record);

// Removes the parts of a creation, such as "setup.context_ns", and returns their times under the
// names "context_ns". A time that cannot be read stays.
std::map<std::string, Nanoseconds> take_setup(std::map<std::string, std::string>& details);

}  // namespace bench
