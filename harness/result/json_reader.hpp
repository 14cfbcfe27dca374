// SPDX-License-Identifier: Apache-2.0
// One line, or a whole document, of JSON to records. Private to this folder.
#pragma once

#include "base/result.hpp"
#include "harness/result/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

// A well-formed record of a kind that is no part of a Report ("activity").
struct OtherRecord {
  std::string kind;
};
// A run record that says another schema.
struct OtherSchema {
  std::string schema;
};
using Line = std::variant<Record, OtherRecord, OtherSchema>;

// Errors: no JSON, no record, a field that is missing or of another type.
Result<Line> parse_line(std::string_view text);

// The lines of a JSON document (to_json_document); absent when the text is none.
std::optional<std::vector<std::string>> document_lines(std::string_view text);

}  // namespace bench
