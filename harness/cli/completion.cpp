// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace bench {
namespace {

bool takes_file(const Option& option) {
  constexpr std::array<std::string_view, 4> kFiles = {"FILE", "DIR", "BENCH", "PATH"};
  return std::ranges::any_of(kFiles,
                             [&](std::string_view name) { return option.value.starts_with(name); });
}

// Returns bash's pattern for "COMMAND OPTION", in which "*" is any command.
std::string bash_pattern(std::string_view command, const Option& option) {
  const std::string prefix =
      command.empty() ? std::string("*\" --") : fmt::format("\"{} --", command);
  std::string pattern = fmt::format("{}{}\"", prefix, option.name);
  if (option.details.letter == '\0') return pattern;
  pattern += command.empty() ? fmt::format(" | *\" -{}\"", option.details.letter)
                             : fmt::format(" | \"{} -{}\"", command, option.details.letter);
  return pattern;
}

// Returns the branches of `case "$command $option"` in the script: the values of each option, or
// whether it takes a file.
std::string bash_values() {
  std::string branches;
  for (const Option& option : options()) {
    if (option.value.empty()) continue;
    const std::size_t size = branches.size();
    const auto offer = [&](std::string_view command, const Words& words) {
      // An optional value can only follow `=`.
      const std::string_view joined = option.details.implied.empty() ? "" : "[[ -n $joined ]] && ";
      branches += fmt::format("    {}) {}values=\"{}\" ;;\n", bash_pattern(command, option), joined,
                              fmt::join(words, " "));
    };
    for (const InCommand& row : option.details.in) {
      if (row.words != nullptr) offer(row.command, row.words());
    }
    if (option.details.words != nullptr) offer("", option.details.words());
    if (branches.size() > size) continue;
    branches += fmt::format("    {}) expects={} ;;\n", bash_pattern("", option),
                            takes_file(option) ? "files" : "nothing");
  }
  return branches;
}

// Returns the branches of `case "$command"` in the script: options and values of the first operand.
std::string bash_commands() {
  std::string branches;
  for (const Command* command : shown_commands()) {
    std::string words = "--help";
    for (const Option* option : options_of(*command)) words += fmt::format(" --{}", option->name);
    branches += fmt::format("    {}) options=\"{}\"", command->name, words);
    if (command->operand_words != nullptr)
      branches += fmt::format(" operands=\"{}\"", fmt::join(command->operand_words(), " "));
    branches += " ;;\n";
  }
  return branches;
}

std::string zsh_value(const Command& command, const Option& option) {
  if (option.value.empty()) return "";
  const Words words = option_words(command.name, option);
  if (!words.empty()) return fmt::format(":{}:({})", option.value, fmt::join(words, " "));
  return fmt::format(":{}:{}", option.value, takes_file(option) ? "_files" : " ");
}

std::string zsh_option(const Command& command, const Option& option) {
  std::string help = option_help(command.name, option).help;
  std::replace(help.begin(), help.end(), ':', ';');
  std::erase_if(help, [](char c) { return c == '[' || c == ']' || c == '\''; });
  return fmt::format(" '--{}{}[{}]{}'", option.name, option.value.empty() ? "" : "=", help,
                     zsh_value(command, option));
}

constexpr std::array kShells = {Shell{"bash", bash_completion}, Shell{"zsh", zsh_completion}};

}  // namespace

std::span<const Shell> completion_shells() { return kShells; }

// If a file is expected, the script leaves the reply empty, so that readline completes the file
// name. Only readline handles blanks and quotes correctly. If there is nothing to offer, the script
// turns readline's completion off.
std::string bash_completion() {
  Words names;
  for (const Command* command : shown_commands()) names.emplace_back(command->name);
  return fmt::format(
      R"(# bash completion of bench; source it or put it below bash-completion's completions folder
_bench() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" option="${{COMP_WORDS[COMP_CWORD - 1]}}"
  local command="${{COMP_WORDS[1]}}" options="" operands="" values="" expects=files joined=""
  COMPREPLY=()
  # bash makes three words of --option=value.
  if [[ $current == "=" ]]; then
    joined=yes current=""
  elif [[ $option == "=" ]]; then
    joined=yes option="${{COMP_WORDS[COMP_CWORD - 2]}}"
  fi
  case "$command" in
{0}    help) operands="{1}" ;;
  esac
  case "$command $option" in
{2}    *) [[ -n $joined ]] && expects=nothing ;;
  esac
  if [[ $COMP_CWORD -eq 1 ]]; then
    values="{1} help --help --version"
  elif [[ -n $values ]]; then
    [[ $values != *= ]] || compopt -o nospace 2>/dev/null
  elif [[ $current == -* ]]; then
    values="$options"
  elif [[ $COMP_CWORD -eq 2 ]]; then
    values="$operands"
  fi
  if [[ -n $values || $expects == nothing ]]; then
    compopt +o default +o bashdefault 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  fi
}}
complete -o bashdefault -o default -F _bench bench ./bench
)",
      bash_commands(), fmt::join(names, " "), bash_values());
}

std::string zsh_completion() {
  std::string names;
  std::string cases;
  for (const Command* command : shown_commands()) {
    names += fmt::format("    '{}:{}'\n", command->name, command->summary);
    std::string arguments;
    for (const Option* option : options_of(*command)) arguments += zsh_option(*command, *option);
    if (command->operand_words != nullptr)
      arguments += fmt::format(" '1:operand:({})'", fmt::join(command->operand_words(), " "));
    cases += fmt::format("    {}) _arguments{} '*:operand:_files' ;;\n", command->name, arguments);
  }
  return fmt::format(R"(#compdef bench
_bench() {{
  local -a names
  names=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command names
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{}  esac
}}
compdef _bench bench
)",
                     names, cases);
}

}  // namespace bench
