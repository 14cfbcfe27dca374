// SPDX-License-Identifier: Apache-2.0
// Converts JSON, one line or a whole document, to records. Private to this folder.
#pragma once

#include "base/json_reader.hpp"
#include "base/result.hpp"
#include "harness/result/record.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bench {

// A well-formed record of a kind that a Report does not contain, such as "activity".
struct OtherRecord {
  std::string kind;
};
// A run record with another schema.
struct OtherSchema {
  std::string schema;
};
using Line = std::variant<Record, OtherRecord, OtherSchema>;

// Parses one line. Returns an error for malformed JSON, a missing record kind, or a field that is
// missing or has the wrong type. `document` provides the memory, which consecutive lines can share.
Result<Line> parse_line(std::string_view text, JsonDocument& document);

// Returns the records of a JSON document (to_json_document), one line each. Returns nullopt if the
// text is not such a document.
std::optional<std::vector<std::string>> document_lines(std::string_view text);

}  // namespace bench
