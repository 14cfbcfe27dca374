// SPDX-License-Identifier: Apache-2.0
// Quoting of text: in messages, which quote what a user, a file or another program gave, and for a
// POSIX shell.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace bench {

// Maximum number of bytes that a message quotes from one text of the input.
inline constexpr std::size_t kMaxQuote = 60;

// Returns the text in backticks, on one line. Cuts a text above `max` bytes, which a message would
// repeat completely otherwise, and marks the end with "...".
std::string quote(std::string_view text, std::size_t max = kMaxQuote);

// Returns a word that a shell reads as `text`. Quotes only if necessary.
std::string shell_quoted(const std::string& text);

// Returns the command line of a program with its words.
std::string shell_command(std::string program, std::span<const std::string> words);

// Returns the beginning of a command line that sets these variables for its program:
// "env NAME=VALUE ". Empty if there are none.
std::string shell_variables(const std::map<std::string, std::string>& variables);

}  // namespace bench
