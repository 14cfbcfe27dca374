// SPDX-License-Identifier: Apache-2.0
// Records of result files and profiles.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace bench::test {

// Returns the records of this kind ("case", "activity", ...) in a text of JSON lines, in their
// order. Each line must be a record; otherwise it throws an exception.
std::vector<nlohmann::json> records_of_kind(const std::string& text, const std::string& kind);

}  // namespace bench::test
