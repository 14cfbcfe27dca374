// SPDX-License-Identifier: Apache-2.0
// Lines of tables: fields between tabs, between commas (quoted as in RFC 4180) or between blanks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Delimiter { tab, comma, blank };

// The one that `header` (names of columns) is written with.
Delimiter delimiter_of(std::string_view header);

// Cuts `line` into `fields`, which is reused. False: a quote is never closed or stands within a
// field.
bool split_fields(std::string_view line, Delimiter delimiter, std::vector<std::string>& fields);

}  // namespace bench
