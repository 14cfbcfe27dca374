// SPDX-License-Identifier: Apache-2.0
// Quoting of text for a POSIX shell.
#pragma once

#include <map>
#include <span>
#include <string>

namespace bench {

// Returns a word that a shell reads as `text`. Quotes only if necessary.
std::string shell_quoted(const std::string& text);

// Returns the command line of a program with its words.
std::string shell_command(std::string program, std::span<const std::string> words);

// Returns the beginning of a command line that sets these variables for its program:
// "env NAME=VALUE ". Empty if there are none.
std::string shell_variables(const std::map<std::string, std::string>& variables);

}  // namespace bench
