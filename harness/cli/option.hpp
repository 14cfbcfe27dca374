// SPDX-License-Identifier: Apache-2.0
// The options of all commands: one row each, from which parsing, --help, the man page and shell
// completion follow.
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
  std::string_view value;  // name of its value in help ("FILE"), empty = takes none
  std::string_view help;
  // `value` is empty for an option without one. Errors: `what` says found and expected.
  Status (*apply)(Arguments& arguments, const std::string& value);
  // What --name alone means, where its value may be left out (and follows "=" else); empty: never.
  std::string_view implied = "";
};

std::span<const Option> options();
const Option* find_option(std::string_view name);  // nullptr when unknown

// Two options of which one would have to be ignored.
struct Contradiction {
  std::string_view first, second;
  // The value with which the second asks for what the first asks for; empty: none does.
  std::string_view agreeing = "";
};
std::span<const Contradiction> contradictions();

// What an option is in one command: several commands share options that mean something of their own
// in each of them.
struct OptionHelp {
  std::string_view value;  // as Option::value
  std::string_view help;
};
OptionHelp option_help(std::string_view command, const Option& option);

}  // namespace bench
