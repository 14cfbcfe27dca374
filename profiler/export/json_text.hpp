// SPDX-License-Identifier: Apache-2.0
// Functions that append pieces of a trace's JSON text, in addition to append_json_text() of base.
#pragma once

#include "base/json_writer.hpp"

#include <cstdint>
#include <string>

namespace bench {

void append_json_integer(std::string& out, std::int64_t number);
// Appends the shortest text that parses to the same value. `number` must be finite.
void append_json_real(std::string& out, double number);
// Appends nanoseconds as microseconds with all digits: 1234567 -> 1234.567.
void append_microseconds(std::string& out, std::int64_t nanoseconds);

}  // namespace bench
