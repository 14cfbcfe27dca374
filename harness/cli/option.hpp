// SPDX-License-Identifier: Apache-2.0
// The options of all commands: one row each. Parsing, --help, the man page and shell completion use
// this table.
#pragma once

#include "base/result.hpp"
#include "harness/cli/arguments.hpp"

#include <span>
#include <string>
#include <string_view>

namespace bench {

struct Option {
  std::string_view name;   // without the dashes: "out"
  char letter;             // short form, '\0' = none
  std::string_view value;  // name of the value in help ("FILE"); empty: takes no value
  std::string_view help;
  // Stores the value in the arguments. `value` is empty if the option takes none. `what` of an
  // error states the invalid value and what is expected.
  Status (*apply)(Arguments& arguments, const std::string& value);
  // The value of --name without =VALUE, if the value is optional. Empty if the value is required.
  std::string_view implied = "";
};

std::span<const Option> options();
const Option* find_option(std::string_view name);  // nullptr if unknown

// Two options that contradict each other. A command refuses them together, because it would have to
// ignore one.
struct Contradiction {
  std::string_view first, second;
  // The only value of the second option that does not contradict the first. Empty if all its values
  // contradict the first.
  std::string_view agreeing = "";
};
std::span<const Contradiction> contradictions();

// Help text of an option in one command. Some options have a specific meaning in each command.
struct OptionHelp {
  std::string_view value;  // as Option::value
  std::string_view help;
};
// Returns the text for the command if there is one, otherwise that of the option.
OptionHelp option_help(std::string_view command, const Option& option);

// Returns the values of --format of `bench trace`.
std::span<const std::string_view> trace_format_names();

}  // namespace bench
