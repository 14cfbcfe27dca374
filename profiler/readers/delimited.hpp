// SPDX-License-Identifier: Apache-2.0
// Parses table lines: fields separated by tabs, commas (quoted as in RFC 4180) or blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Delimiter { tab, comma, blank };

// Returns the delimiter of `header` (the names of columns). Only a CSV has quotes.
Delimiter detect_delimiter(std::string_view header);

// Splits `line` into `fields`, whose memory is reused. Returns false if a quote is never closed or
// is inside a field.
bool split_fields(std::string_view line, Delimiter delimiter, std::vector<std::string>& fields);

}  // namespace bench
