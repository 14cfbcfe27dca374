// SPDX-License-Identifier: Apache-2.0
// Help texts from the tables of commands and options: lines of at most 80 columns.
#pragma once

#include "harness/cli/command.hpp"

#include <string>

namespace bench {

std::string program_help();
std::string command_help(const Command& command);
std::string manual_page();   // roff, for man(1)
std::string manual_text();   // the same as plain text of 80 columns
std::string version_text();  // "bench 0.1.0 (commit 1a2b3c4)\n"

}  // namespace bench
