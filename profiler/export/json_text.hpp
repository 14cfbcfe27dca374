// SPDX-License-Identifier: Apache-2.0
// Pieces of JSON text, appended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// With quotes and escapes. Bytes that are no UTF-8 become replacement characters.
void append_json_string(std::string& out, std::string_view text);
void append_json_integer(std::string& out, std::int64_t number);
// Shortest text that reads back the same. `number` is finite.
void append_json_real(std::string& out, double number);
// Nanoseconds as microseconds with all their digits: 1234567 -> 1234.567.
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace bench
