// SPDX-License-Identifier: Apache-2.0
// Functions that append pieces of JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// Adds quotes and escapes. Invalid UTF-8 becomes replacement characters.
void append_json_string(std::string& out, std::string_view text);
void append_json_integer(std::string& out, std::int64_t number);
// Appends the shortest text that parses to the same value. `number` must be finite.
void append_json_real(std::string& out, double number);
// Appends nanoseconds as microseconds with all digits: 1234567 -> 1234.567.
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace bench
