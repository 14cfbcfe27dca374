// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/help.hpp"

#include "base/version.hpp"
#include "harness/cli/option.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>

#include <vector>

namespace bench {
namespace {

std::vector<const Command*> shown_commands() {
  std::vector<const Command*> shown;
  for (const Command& command : commands()) {
    if (command.visibility == Visibility::shown) shown.push_back(&command);
  }
  return shown;
}

std::string option_names(const Option& option) {
  std::string text = option.letter == '\0' ? "    " : fmt::format("-{}, ", option.letter);
  text += fmt::format("--{}", option.name);
  if (!option.value.empty()) {
    text += option.implied.empty() ? fmt::format(" {}", option.value)
                                   : fmt::format("[={}]", option.value);
  }
  return text;
}

std::string indented(std::string_view text) {
  std::string result = "  ";
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

constexpr std::string_view kExitStatuses =
    "  0  everything was measured, or is skipped or unsupported with its reason\n"
    "  1  at least one regression\n"
    "  2  wrong usage or configuration\n"
    "  3  something could not be measured or decided: failed, crashed, timed out, wrong result, "
    "or\n"
    "     the budget or Ctrl-C ended it early\n"
    "  4  a gate whose measurements decide no case; with --strict, any undecided case\n"
    "  5  a gate in which nothing can be compared, except in the first run of a configuration\n";

constexpr std::string_view kPurpose =
    "bench measures neural-network operators and small networks: how fast, why, and whether they "
    "got slower.";

// roff: a leading dot or apostrophe would be a request, a backslash an escape, a bare hyphen a
// typographic one.
std::string roff(std::string_view text) {
  std::string result;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    line_start = c == '\n';
  }
  return result;
}

std::string manual_command_section(const Command& command) {
  std::string text = fmt::format(".SS {} {}\n{}.\n", roff(command.name), roff(command.operands),
                                 roff(command.summary));
  if (!command.description.empty()) text += fmt::format(".PP\n{}\n", roff(command.description));
  for (std::string_view name : command.options) {
    const Option& option = *find_option(name);
    text += fmt::format(".TP\n.B {}\n{}\n", roff(option_names(option)), roff(option.help));
  }
  if (!command.examples.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.examples));
  return text;
}

}  // namespace

std::string version_text() {
  const auto commit = tool_commit();
  return commit ? fmt::format("bench {} (commit {})\n", tool_version(), *commit)
                : fmt::format("bench {}\n", tool_version());
}

std::string program_help() {
  std::string text =
      fmt::format("{}\n\nUsage: bench COMMAND [OPTIONS] ...\n\nCommands:\n", kPurpose);
  for (const Command* command : shown_commands()) {
    text += fmt::format("  {:<28} {}\n", fmt::format("{} {}", command->name, command->operands),
                        command->summary);
  }
  text +=
      "\nStart here:\n"
      "  bench doctor                     # what this machine offers and lacks\n"
      "  bench run configs/quick.yaml     # a few seconds\n"
      "  bench run configs/resnet.yaml    # ResNet-50, layer by layer and as one network\n"
      "  bench run configs/resnet.yaml --profile --out r.jsonl    # and where the time goes\n"
      "  bench analyze r.jsonl --aggregate-by layer               # ask the profile\n"
      "  bench profile -- ./your_program  # any program that uses oneDNN, unchanged\n";
  text += fmt::format(
      "\nExit status:\n{}\n`bench COMMAND --help` teaches one command; `man bench` is the "
      "manual.\n",
      kExitStatuses);
  return text;
}

std::string command_help(const Command& command) {
  std::string text = fmt::format(
      "Usage: bench {}{}{}{}\n\n{}.\n", command.name, command.options.empty() ? "" : " [OPTIONS]",
      command.operands.empty() ? "" : " ", command.operands, command.summary);
  if (!command.description.empty()) text += fmt::format("\n{}\n", command.description);
  if (!command.options.empty()) text += "\nOptions:\n";
  for (std::string_view name : command.options) {
    const Option& option = *find_option(name);
    text += fmt::format("  {:<30} {}\n", option_names(option), option.help);
  }
  if (!command.examples.empty())
    text += fmt::format("\nExamples:\n{}\n", indented(command.examples));
  return text;
}

std::string manual_page() {
  std::string text = fmt::format(
      ".TH BENCH 1 \"\" \"bench {}\" \"User Commands\"\n.SH NAME\nbench \\- measure "
      "neural\\-network operators and small networks\n"
      ".SH SYNOPSIS\n.B bench\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n{}\n",
      tool_version(), roff(kPurpose));
  text +=
      "Cases come from YAML files or are named by their id. Each case runs in several worker "
      "processes, interleaved in random\n"
      "order; warm\\-up is excluded, results are checked before they are timed, and every record "
      "is appended to a result\n"
      "file at once.\n.SH COMMANDS\n";
  for (const Command* command : shown_commands()) text += manual_command_section(*command);
  text += fmt::format(".SH EXIT STATUS\n.nf\n{}.fi\n", roff(kExitStatuses));
  text +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour on a terminal\n.TP\n.B "
      "LD_LIBRARY_PATH\nworkers use the libdnnl.so.3 found there\n"
      ".TP\n.B ONEDNN_*\npassed to workers and recorded in the result file\n";
  for (const SwitchRow& row : switch_rows()) {
    text += fmt::format(".TP\n.B {}={}\nof the profiler: {} (default {})\n", row.variable,
                        roff(row.value), roff(row.help), roff(row.fallback));
  }
  text +=
      ".SH FILES\n.TP\n.B bench\\-NAME\\-RUNID.jsonl\nthe result file of a run without \\-\\-out\n"
      ".TP\n.B profile\\-PID.jsonl\nthe profile of bench profile without \\-\\-out, and of "
      "programs that link libbench_profile\n"
      ".SH SEE ALSO\nThe manual, file formats and figures are in the folder docs of the "
      "installation.\n";
  return text;
}

}  // namespace bench
