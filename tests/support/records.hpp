// SPDX-License-Identifier: Apache-2.0
// Records of result files and profiles.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bench::test {

// Returns one value for each line of the text, in order. Throws an exception if a line is not valid
// JSON; an empty line is not.
std::vector<nlohmann::json> parse_json_lines(const std::string& text);

// Returns the records of this kind ("case", "activity", ...) in a text of JSON lines, in their
// order. Each line must be a record; otherwise it throws an exception.
std::vector<nlohmann::json> records_of_kind(const std::string& text, const std::string& kind);

}  // namespace bench::test
