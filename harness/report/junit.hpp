// SPDX-License-Identifier: Apache-2.0
// Pieces of JUnit XML that the reports of runs and of gates share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench::junit {

// Returns ` name="value"` with the value escaped.
std::string attribute(std::string_view name, std::string_view value);
// Returns the lines escaped, each with its line end.
std::string content(const std::vector<std::string>& lines);
// Returns one <property> on its own line.
std::string property(std::string_view name, std::string_view value);

}  // namespace bench::junit
