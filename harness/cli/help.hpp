// SPDX-License-Identifier: Apache-2.0
// Help texts and completion scripts. They come from the tables of commands and options with which
// the program parses its command line. Lines of help have at most 80 columns.
#pragma once

#include "harness/cli/command.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

std::string program_help();
std::string command_help(const Command& command);
std::string manual_page();     // the manual in roff, for man(1)
std::string format_manual();   // the manual as plain text
std::string format_version();  // "bench 0.1.0 (commit 1a2b3c4)\n"

// A shell, and the function that returns its completion script.
struct Shell {
  std::string_view name;
  std::string (*script)();
};
std::span<const Shell> completion_shells();

std::string bash_completion();
std::string zsh_completion();

}  // namespace bench
