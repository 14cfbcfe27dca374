// SPDX-License-Identifier: Apache-2.0
// Quoting of input in messages: the text that a user, a file or another program gave.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

// Maximum number of bytes that a message quotes from one text of the input.
inline constexpr std::size_t kMaxQuote = 60;

// Returns the text in backticks, on one line. Cuts a text above `max` bytes, which a message would
// repeat completely otherwise, and marks the end with "...".
std::string quote(std::string_view text, std::size_t max = kMaxQuote);

}  // namespace bench
