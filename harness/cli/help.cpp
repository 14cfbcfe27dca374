// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/help.hpp"

#include "base/lines.hpp"
#include "base/terminal_text.hpp"
#include "base/version.hpp"
#include "harness/cli/option.hpp"
#include "profiler/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

namespace bench {
namespace {

// Width of help in columns. It does not depend on the destination.
constexpr std::size_t kHelpWidth = 80;
constexpr std::size_t kHelpColumn = 30;  // where the text after a name begins

std::string format_option_names(const Option& option, std::string_view value) {
  std::string text =
      option.details.letter == '\0' ? "    " : fmt::format("-{}, ", option.details.letter);
  text += fmt::format("--{}", option.name);
  if (!value.empty()) {
    text +=
        option.details.implied.empty() ? fmt::format(" {}", value) : fmt::format("[={}]", value);
  }
  return text;
}

// Formats "  name      what it is" with the text wrapped in its column. A long name has its own
// line.
std::string format_help_entry(std::string_view name, std::string_view help) {
  std::string text = fmt::format("  {}", name);
  const std::string lines = wrap(help, kHelpWidth, kHelpColumn);
  if (text.size() + 2 > kHelpColumn || lines.empty()) return text + '\n' + lines;
  text.resize(kHelpColumn, ' ');
  return text + lines.substr(kHelpColumn);
}

// Wraps the paragraphs of a description. Lines that begin with a blank stay unchanged.
std::string wrap_description(std::string_view text) {
  std::string result;
  std::string paragraph;
  const auto finish_paragraph = [&] {
    result += wrap(paragraph, kHelpWidth, 0);
    paragraph.clear();
  };
  for (const NumberedLine& line : Lines(text)) {
    if (line.text.starts_with(' ')) {
      finish_paragraph();
      result += fmt::format("{}\n", line.text);
    } else {
      paragraph += fmt::format("{}{}", paragraph.empty() ? "" : " ", line.text);
    }
  }
  finish_paragraph();
  return result;
}

// Formats "command  # what it does" as two lines, with the comment above its command.
std::string format_examples(std::string_view examples, std::string_view indent) {
  constexpr std::string_view kComment = "  # ";
  std::string result;
  for (const NumberedLine& line : Lines(examples)) {
    const std::size_t comment = line.text.find(kComment);
    const std::string_view command = line.text.substr(0, comment);
    if (comment != std::string_view::npos) {
      result += fmt::format("{}{}\n", indent, line.text.substr(comment + 2));
    }
    result += fmt::format("{}{}\n", indent, command.substr(0, command.find_last_not_of(' ') + 1));
  }
  return result;
}

constexpr std::string_view kExitStatuses =
    "  0  everything was measured, or is skipped or unsupported with its reason\n"
    "  1  at least one regression\n"
    "  2  wrong usage or configuration\n"
    "  3  something could not be measured or decided: failed, crashed, timed out,\n"
    "     wrong result, or the budget or Ctrl-C ended it early\n"
    "  4  a gate whose measurements decide no case; with --strict, any undecided case\n"
    "  5  a gate in which nothing can be compared, except in the first run of a\n"
    "     configuration; the same for compare and history with --fail-on regression\n";

constexpr std::string_view kPurpose =
    "bench measures neural-network operators and small networks: how fast, why, and whether they "
    "got slower.";

using NamedText = std::pair<std::string, std::string>;

std::vector<NamedText> environment_rows() {
  std::vector<NamedText> rows = {
      {"NO_COLOR", "no colour on a terminal"},
      {"COLUMNS", "width of tables if standard output is not a terminal (default: any)"},
      {"LD_LIBRARY_PATH", "workers use the libdnnl.so.3 found there"},
      {"ONEDNN_*", "passed to workers and recorded in the result file, except ONEDNN_VERBOSE"},
      {"BENCH_CUDA_LIBS", "folders, separated by colons, of cuDNN and other libraries for a GPU"},
      {"BENCH_CUDA_PLUGIN", "the plugin for a GPU (default: libbench_cuda.so of the installation)"},
      {"BENCH_BLIS", "the file or folder of BLIS, for the backend blis"},
      {"BENCH_MKL", "the file or folder of MKL, for the backend mkl"},
      {"BENCH_OPENBLAS", "the file or folder of OpenBLAS, for the backend openblas"},
      {"BENCH_LOCK",
       "the file by which measurements on one machine wait for each other (default: bench.lock in "
       "/run/lock or /tmp); empty: they do not wait"},
      {"BENCH_SLOWDOWN=FRACTION",
       "makes every sample longer by 0 to 1 times its time, to see what a gate finds"},
      {"BENCH_NODE=NAME",
       "what a run calls this machine, for report --by machine (default: what "
       "Slurm calls it, or the host name)"},
      {"BENCH_SHARDS=N", "the number of parts of a job of Kubernetes, for --shard auto"},
      {"GITHUB_ACTIONS=true", "a gate also prints annotations for the lines of its cases"},
      {"TMPDIR", "where sockets and large temporary files go (default /tmp, /var/tmp)"}};
  for (const SwitchRow& row : switch_rows()) {
    rows.emplace_back(fmt::format("{}={}", row.variable, row.value),
                      fmt::format("of the profiler: {} (default {})", row.help, row.fallback));
  }
  return rows;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kFiles = {{
    {"configs/NAME.yaml",
     "configurations that come with the program: quick, resnet, ...; in the checkout or in "
     "share/bench/configs of the installation. `bench run NAME` finds them from every folder"},
    {"baselines/", "accepted runs and the machine's ceilings (another folder: --baseline)"},
    {"gate-NAME-RUNID/", "the evidence, reports and kits of a gate without --out"},
    {"bench-NAME-RUNID.jsonl", "the result file of a run without --out"},
    {"profile-PID.jsonl",
     "the profile of bench profile without --out, and of programs that link libbench_profile"},
}};

constexpr std::string_view kSeeAlso =
    "The glossary (docs/manual.md), file formats, the gate's rules and figures are in the folder "
    "docs of the checkout or of the installation.";

// Escapes text for roff: a leading dot or apostrophe would be a request, a backslash an escape, and
// a bare hyphen a typographic one.
std::string escape_roff(std::string_view text) {
  std::string result;
  bool is_line_start = true;
  for (char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    is_line_start = c == '\n';
  }
  return result;
}

std::string format_manual_section(const Command& command) {
  std::string text = fmt::format(".SS {} {}\n{}.\n", escape_roff(command.name),
                                 escape_roff(command.operands), escape_roff(command.summary));
  if (!command.description.empty())
    text += fmt::format(".PP\n{}\n", escape_roff(describe(command)));
  for (const Option* option : options_of(command)) {
    const OptionHelp help = option_help(command.name, *option);
    text += fmt::format(".TP\n.B {}\n{}\n", escape_roff(format_option_names(*option, help.value)),
                        escape_roff(help.help));
  }
  if (!command.examples.empty())
    text += fmt::format(".PP\n.nf\n{}.fi\n", escape_roff(format_examples(command.examples, "")));
  return text;
}

}  // namespace

std::string format_version() {
  const auto commit = tool_commit();
  return commit ? fmt::format("bench {} (commit {})\n", tool_version(), *commit)
                : fmt::format("bench {}\n", tool_version());
}

std::string program_help() {
  std::string text =
      wrap(kPurpose, kHelpWidth, 0) + "\nUsage: bench COMMAND [OPTIONS] ...\n\nCommands:\n";
  for (const Command* command : shown_commands()) {
    text +=
        format_help_entry(fmt::format("{} {}", command->name, command->operands), command->summary);
  }
  text += "\nStart here:\n" +
          format_examples(
              "bench doctor  # what this machine offers and lacks\n"
              "bench run configs/quick.yaml  # a few seconds\n"
              "bench run configs/resnet.yaml  # ResNet-50, layer by layer and as a whole\n"
              "bench run configs/resnet.yaml --profile --out r.jsonl  # and where the time goes\n"
              "bench analyze r.jsonl --aggregate-by layer  # ask the profile\n"
              "bench profile -- ./your_program  # any program that uses oneDNN, unchanged\n",
              "  ");
  text += fmt::format(
      "\nExit status:\n{}\n`bench COMMAND --help` explains one command; `bench man` is the "
      "manual.\n",
      kExitStatuses);
  return text;
}

std::string command_help(const Command& command) {
  std::string summary = fmt::format("{}.", command.summary);
  summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
  std::string text = fmt::format(
      "Usage: bench {}{}{}{}\n\n{}", command.name, command.options.empty() ? "" : " [OPTIONS]",
      command.operands.empty() ? "" : " ", command.operands, wrap(summary, kHelpWidth, 0));
  if (!command.description.empty()) text += "\n" + wrap_description(describe(command));
  if (!command.options.empty()) text += "\nOptions:\n";
  for (const Option* option : options_of(command)) {
    const OptionHelp help = option_help(command.name, *option);
    text += format_help_entry(format_option_names(*option, help.value), help.help);
  }
  if (!command.examples.empty()) text += "\nExamples:\n" + format_examples(command.examples, "  ");
  return text;
}

std::string format_manual() {
  std::string text = fmt::format("bench {}\n\n{}", tool_version(), program_help());
  for (const Command* command : shown_commands()) {
    const std::string title = fmt::format("bench {}", command->name);
    text += fmt::format("\n{0}\n{1:-<{2}}\n{3}", title, "", title.size(), command_help(*command));
  }
  text += "\nEnvironment\n-----------\n";
  for (const auto& [name, meaning] : environment_rows()) text += format_help_entry(name, meaning);
  text += "\nFiles\n-----\n";
  for (const auto& [name, meaning] : kFiles) text += format_help_entry(name, meaning);
  return text + "\n" + wrap(kSeeAlso, kHelpWidth, 0);
}

std::string manual_page() {
  std::string text = fmt::format(
      ".TH BENCH 1 \"\" \"bench {}\" \"User Commands\"\n.SH NAME\nbench \\- measure "
      "neural\\-network operators and small networks\n"
      ".SH SYNOPSIS\n.B bench\n.I COMMAND\n[\\fIOPTIONS\\fR] ...\n.SH DESCRIPTION\n{}\n",
      tool_version(), escape_roff(kPurpose));
  text +=
      "Cases come from YAML files or are named by their id. Each case runs in several worker "
      "processes, interleaved in random\n"
      "order; warm\\-up is excluded, results are checked before they are timed, and every record "
      "is appended to a result\n"
      "file at once.\n.SH COMMANDS\n";
  for (const Command* command : shown_commands()) text += format_manual_section(*command);
  text += fmt::format(".SH EXIT STATUS\n.nf\n{}.fi\n", escape_roff(kExitStatuses));
  text += ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : environment_rows())
    text += fmt::format(".TP\n.B {}\n{}\n", escape_roff(name), escape_roff(meaning));
  text += ".SH FILES\n";
  for (const auto& [name, meaning] : kFiles)
    text += fmt::format(".TP\n.B {}\n{}\n", escape_roff(name), escape_roff(meaning));
  text += fmt::format(".SH SEE ALSO\n{}\n", escape_roff(kSeeAlso));
  return text;
}

}  // namespace bench
