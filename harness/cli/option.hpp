// SPDX-License-Identifier: Apache-2.0
// The options of all commands: one row each. Parsing, --help, the man page and shell completion use
// this table.
#pragma once

#include "base/enumerators.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The words that a shell offers as values of options and as operands.
using Words = std::vector<std::string>;

// Returns the items of what the function `list` returns, or their names.
template <auto list>
Words words_of() {
  Words words;
  for (const auto& item : list()) {
    if constexpr (requires { item.name; }) {
      words.emplace_back(item.name);
    } else {
      words.emplace_back(item);
    }
  }
  return words;
}

template <NamedEnum Enum>
Words enumerator_words() {
  return {enumerator_names<Enum>().begin(), enumerator_names<Enum>().end()};
}

// In the help of an option, stands for its words: "text, html or json".
inline constexpr std::string_view kWordsPlace = "{words}";

// What differs in one command.
struct InCommand {
  std::string_view command;
  std::string_view help = "";   // empty: as in the other commands
  Words (*words)() = nullptr;   // values that a shell offers; nullptr: as in the other commands
  std::string_view value = "";  // empty: as in the other commands
};

struct OptionDetails {
  char letter = '\0';                // short form, '\0' = none
  std::string_view implied = "";     // the value of --name without =VALUE; empty: it is required
  Words (*words)() = nullptr;        // values that a shell offers; nullptr: none, or files
  std::array<InCommand, 8> in = {};  // rows without a command are not used
};

struct Option {
  std::string_view name;   // without the dashes: "out"
  std::string_view value;  // name of the value in help ("FILE"); empty: takes no value
  std::string_view help;
  // Stores the value in the arguments. `value` is empty if the option takes none. `what` of an
  // error states the invalid value and what is expected; an empty `where` stands for the option.
  Status (*apply)(Arguments& arguments, const Option& option, const std::string& value);
  OptionDetails details;

  constexpr Option(std::string_view option_name, std::string_view value_name,
                   std::string_view help_text, decltype(apply) apply_value,
                   const OptionDetails& other = {})
      : name(option_name), value(value_name), help(help_text), apply(apply_value), details(other) {}
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
  std::string help;        // with the words in place of kWordsPlace
};
// Return what the command's row says if there is one, otherwise what the option says.
OptionHelp option_help(std::string_view command, const Option& option);
Words option_words(std::string_view command, const Option& option);

// Returns the values of --format of `bench trace`.
std::span<const std::string_view> trace_format_names();

}  // namespace bench
