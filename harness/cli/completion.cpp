// SPDX-License-Identifier: Apache-2.0
// table: the values that shells offer for options, one row each
#include "harness/cli/baseline_actions.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"
#include "harness/cli/option.hpp"
#include "harness/config/overrides.hpp"
#include "harness/config/settings.hpp"
#include "harness/import/benchdnn_driver.hpp"
#include "harness/import/kind.hpp"
#include "harness/judge/comparison.hpp"
#include "harness/report/comparison_text.hpp"
#include "harness/report/format.hpp"
#include "ops/problem.hpp"
#include "profiler/activity.hpp"
#include "profiler/analysis/column.hpp"
#include "profiler/analysis/query.hpp"
#include "profiler/analysis/table_format.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace bench {
namespace {

using Words = std::vector<std::string>;

Words to_words(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

template <class Row>
Words row_names(std::span<const Row> rows) {
  Words names;
  for (const Row& row : rows) names.emplace_back(row.name);
  return names;
}

// Returns "KEY=" for each key of --set.
Words list_override_keys() {
  Words keys;
  for (const std::string& key : override_keys()) keys.push_back(key + "=");
  return keys;
}

// Values that the shell offers for an option. If `name` is empty, they are for the first operand of
// the command.
struct Offer {
  std::string_view command;  // empty: every command
  std::string_view name;     // name of the option
  Words (*words)();
};

constexpr std::array kOffers = {
    Offer{"baseline", "", [] { return to_words(baseline_action_names()); }},
    Offer{"import", "", [] { return to_words(import_kind_names()); }},
    Offer{"import", "driver", [] { return row_names(benchdnn_drivers()); }},
    Offer{"completion", "", [] { return row_names(completion_shells()); }},
    Offer{"report", "format", [] { return row_names(report_formats()); }},
    Offer{"report", "columns", [] { return row_names(case_columns()); }},
    Offer{"report", "sort", [] { return row_names(case_columns()); }},
    Offer{"compare", "format", [] { return row_names(comparison_formats()); }},
    Offer{"trace", "format", [] { return to_words(trace_format_names()); }},
    Offer{"analyze", "format", [] { return row_names(analysis::table_formats()); }},
    Offer{"", "aggregate", [] { return to_words(enumerator_names<Aggregate>()); }},
    Offer{"", "aggregate-by", [] { return row_names(analysis::columns()); }},
    Offer{"", "beside", [] { return to_words(enumerator_names<Beside>()); }},
    Offer{"", "columns", [] { return row_names(analysis::columns()); }},
    Offer{"", "device", [] { return to_words(device_names()); }},
    Offer{"", "direction", [] { return to_words(enumerator_names<ops::Direction>()); }},
    Offer{"", "flop-convention", [] { return to_words(enumerator_names<ops::FlopConvention>()); }},
    Offer{"", "dtype", [] { return row_names(data_types()); }},
    Offer{"history", "fail-on",
          [] {
            return Words{"regression", "pending"};
          }},
    Offer{"compare", "fail-on", [] { return Words{"regression"}; }},
    Offer{"", "kind", [] { return to_words(enumerator_names<ActivityKind>()); }},
    Offer{"", "order-by", [] { return row_names(analysis::columns()); }},
    Offer{"", "phase", [] { return to_words(enumerator_names<PhaseFilter>()); }},
    Offer{"", "profile", [] { return to_words(enumerator_names<RecordGroup>()); }},
    Offer{"", "profile-format", [] { return to_words(enumerator_names<ProfileFormat>()); }},
    Offer{"", "require", [] { return Words{"gpu"}; }},
    Offer{"", "set", list_override_keys},
};

// Returns nullptr if there is no offer for the option, or for the operand if `name` is empty.
const Offer* find_offer(std::string_view command, std::string_view name) {
  const auto* const found = std::ranges::find_if(kOffers, [&](const Offer& offer) {
    return offer.name == name && (offer.command == command || offer.command.empty());
  });
  return found == kOffers.end() ? nullptr : found;
}

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
  if (option.letter == '\0') return pattern;
  pattern += command.empty() ? fmt::format(" | *\" -{}\"", option.letter)
                             : fmt::format(" | \"{} -{}\"", command, option.letter);
  return pattern;
}

// Returns the branches of `case "$command $option"` in the script: the values of each option, or
// whether it takes a file.
std::string bash_values() {
  std::string branches;
  for (const Offer& offer : kOffers) {
    if (offer.name.empty()) continue;
    const Option& option = *find_option(offer.name);
    // An optional value can only follow `=`.
    const std::string_view joined = option.implied.empty() ? "" : "[[ -n $joined ]] && ";
    branches += fmt::format("    {}) {}values=\"{}\" ;;\n", bash_pattern(offer.command, option),
                            joined, fmt::join(offer.words(), " "));
  }
  for (const Option& option : options()) {
    const bool has_offer = std::ranges::find(kOffers, option.name, &Offer::name) != kOffers.end();
    if (option.value.empty() || has_offer) continue;
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
    for (std::string_view name : command->options) words += fmt::format(" --{}", name);
    const Offer* const operand = find_offer(command->name, "");
    branches += fmt::format("    {}) options=\"{}\"", command->name, words);
    if (operand != nullptr)
      branches += fmt::format(" operands=\"{}\"", fmt::join(operand->words(), " "));
    branches += " ;;\n";
  }
  return branches;
}

std::string zsh_value(const Command& command, const Option& option) {
  if (option.value.empty()) return "";
  const Offer* const offer = find_offer(command.name, option.name);
  if (offer != nullptr)
    return fmt::format(":{}:({})", option.value, fmt::join(offer->words(), " "));
  return fmt::format(":{}:{}", option.value, takes_file(option) ? "_files" : " ");
}

std::string zsh_option(const Command& command, const Option& option) {
  std::string help(option_help(command.name, option).help);
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
    for (std::string_view name : command->options) {
      arguments += zsh_option(*command, *find_option(name));
    }
    if (const Offer* const operand = find_offer(command->name, "")) {
      arguments += fmt::format(" '1:operand:({})'", fmt::join(operand->words(), " "));
    }
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
