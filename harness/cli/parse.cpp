// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/parse.hpp"

#include "base/characters.hpp"
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/gate_options.hpp"
#include "harness/cli/help.hpp"
#include "harness/host/placement.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <ostream>
#include <system_error>
#include <unistd.h>

namespace bench {
namespace {

// An option of the command, and what CLI11 parsed for it.
struct ParsedOption {
  const Option* option;
  std::vector<std::string> values;  // in the order of the command line
  bool is_set = false;              // for an option without a value
};

std::string flag_names(const Option& option) {
  const std::string name = fmt::format("--{}", option.name);
  return option.details.letter == '\0' ? name : fmt::format("-{},{}", option.details.letter, name);
}

// Declares the options of the command to CLI11. CLI11 checks only the syntax (known names, values
// present); Option::apply checks the values.
void declare_options(CLI::App& app, const Command& command,
                     std::vector<ParsedOption>& parsed_options,
                     std::vector<std::string>& operands) {
  app.set_help_flag();
  const std::vector<const Option*> declared = options_of(command);
  parsed_options.reserve(declared.size());  // CLI11 keeps references to its elements
  for (const Option* option : declared) {
    ParsedOption& row = parsed_options.emplace_back(ParsedOption{option, {}, false});
    if (option->value.empty()) {
      app.add_flag(flag_names(*option), row.is_set);
    } else {
      app.add_option(flag_names(*option), row.values)
          ->allow_extra_args(false)
          ->expected(1)
          ->take_all();
    }
  }
  app.add_option("operands", operands);
}

// Adds the implied value to options whose value is optional: "--profile" becomes "--profile=VALUE".
// Such a value can only follow "=", so that the option never takes the next operand.
void insert_implied(const Command& command, std::vector<std::string>& words) {
  for (const Option* option : options_of(command)) {
    if (option->details.implied.empty()) continue;
    std::ranges::replace(words, fmt::format("--{}", option->name),
                         fmt::format("--{}={}", option->name, option->details.implied));
  }
}

Error unknown_option(const Command& command, const std::string& word) {
  const std::string written = word.substr(0, word.find('='));
  if (auto hint = foreign_option_hint(command.name, written)) {
    return {fmt::format("`bench {}` has no option {}", command.name, quote(word)), "",
            *std::move(hint)};
  }
  std::vector<std::string> names{"--help"};
  for (const Option* option : options_of(command))
    names.push_back(fmt::format("--{}", option->name));
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto near = nearest_name(written, candidates);
  return {fmt::format("`bench {}` has no option {}", command.name, quote(word)), "",
          near ? fmt::format("did you mean `{}`?", *near)
               : fmt::format("`bench {} --help` lists its options", command.name)};
}

// Returns the error if a word such as "--out" or "-o" lacks the value that its option needs.
Error missing_value(const Command& command, const CLI::ParseError& error) {
  const std::string text = error.what();  // "--out: 1 required TEXT missing"
  for (const Option* option : options_of(command)) {
    if (!text.starts_with(fmt::format("--{}:", option->name))) continue;
    return {fmt::format("`--{}` needs a value: {}", option->name,
                        option_help(command.name, *option).value),
            "", fmt::format("`bench {} --help` explains it", command.name)};
  }
  return {fmt::format("`bench {}`: {}", command.name, text), "",
          fmt::format("`bench {} --help` shows its usage", command.name)};
}

// Checks one word of the command line, as far as CLI11 does not or its messages are unclear.
Status check_word(const Command& command, const CLI::App& app, const std::string& word) {
  const bool is_long = word.size() > 2 && word.starts_with("--");
  const bool is_short = word.size() > 1 && word[0] == '-' && is_letter(word[1]);
  if (!is_long && !is_short) return Done{};
  const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
  if (app.get_option_no_throw(name) == nullptr) return unknown_option(command, word);
  if (!is_long || name.size() == word.size()) return Done{};
  const Option& option = *find_option(std::string_view(name).substr(2));
  if (!option.value.empty()) return Done{};
  return Error{fmt::format("`{}` does not accept a value", name), "",
               fmt::format("write `{}` instead of {}", name, quote(word))};
}

Status check_operands(const Command& command, const std::vector<std::string>& operands) {
  const int count = static_cast<int>(operands.size());
  if (count < command.min_operands) {
    return Error{fmt::format("`bench {}` needs {}", command.name, command.operands), "",
                 fmt::format("`bench {} --help` shows examples", command.name)};
  }
  if (command.max_operands >= 0 && count > command.max_operands) {
    return Error{fmt::format("`bench {}` does not accept {}", command.name,
                             quote(operands[static_cast<std::size_t>(command.max_operands)])),
                 "", fmt::format("`bench {} --help` shows its usage", command.name)};
  }
  return Done{};
}

Status apply_option(const Option& option, const std::string& value, Arguments& arguments) {
  Status status = option.apply(arguments, option, value);
  if (status.ok() || !status.error().where.empty()) return status;
  return Error{status.error().what, fmt::format("--{}", option.name), status.error().next};
}

Status apply_options(const std::vector<ParsedOption>& parsed_options, Arguments& arguments) {
  for (const ParsedOption& row : parsed_options) {
    if (row.is_set) BENCH_RETURN_IF_ERROR(apply_option(*row.option, "", arguments));
    for (const std::string& value : row.values)
      BENCH_RETURN_IF_ERROR(apply_option(*row.option, value, arguments));
  }
  return Done{};
}

// Returns nullptr if the command line does not contain the option.
const ParsedOption* find_given_option(const std::vector<ParsedOption>& parsed_options,
                                      std::string_view name) {
  const auto found = std::ranges::find_if(parsed_options, [&](const ParsedOption& row) {
    return row.option->name == name && (row.is_set || !row.values.empty());
  });
  return found == parsed_options.end() ? nullptr : &*found;
}

// Rejects two options that contradict each other, because the command would have to ignore one.
Status refuse_contradictions(const std::vector<ParsedOption>& parsed_options) {
  for (const Contradiction& pair : contradictions()) {
    if (find_given_option(parsed_options, pair.first) == nullptr) continue;
    const ParsedOption* const second = find_given_option(parsed_options, pair.second);
    if (second == nullptr) continue;
    std::string second_text = fmt::format("--{}", pair.second);
    if (!pair.agreeing.empty()) {
      const auto other = std::ranges::find_if(
          second->values, [&](const std::string& value) { return value != pair.agreeing; });
      if (other == second->values.end()) continue;
      second_text += fmt::format(" {}", *other);
    }
    return Error{fmt::format("--{} and {} contradict each other", pair.first, second_text), "",
                 "omit one of them"};
  }
  return Done{};
}

Result<Arguments> parse_arguments(const Command& command, std::vector<std::string> words) {
  CLI::App app;
  std::vector<ParsedOption> parsed_options;
  Arguments arguments;
  declare_options(app, command, parsed_options, arguments.inputs);
  // Everything after `--` is an operand, unchanged, even a second `--`: it may be another program's
  // command.
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> verbatim(dashes == words.end() ? dashes : dashes + 1, words.end());
  words.erase(dashes, words.end());
  insert_implied(command, words);
  for (const std::string& word : words) {
    BENCH_RETURN_IF_ERROR(check_word(command, app, word));
  }
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 reads them from the back
  } catch (const CLI::ParseError& error) {
    return missing_value(command, error);
  }
  BENCH_RETURN_IF_ERROR(refuse_contradictions(parsed_options));
  BENCH_RETURN_IF_ERROR(apply_options(parsed_options, arguments));
  arguments.inputs.insert(arguments.inputs.end(), verbatim.begin(), verbatim.end());
  BENCH_RETURN_IF_ERROR(check_operands(command, arguments.inputs));
  return arguments;
}

Error unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : shown_commands()) names.push_back(command->name);
  return {fmt::format("unknown command {}", quote(word)), "", expectation(word, names)};
}

// Returns the number of characters in a word such as "-nq" before the first letter that is not a
// flag. What follows an option with a value is that value.
std::size_t end_of_flags(const std::string& word) {
  for (std::size_t i = 1; i < word.size(); ++i) {
    const auto option =
        std::ranges::find(options(), word[i], [](const Option& row) { return row.details.letter; });
    if (option == options().end() || !option->value.empty()) return i;
  }
  return word.size();
}

bool is_help_request(const std::string& word) { return word == "--help" || word == "-h"; }

}  // namespace

Result<std::variant<ParsedCommand, HelpOrVersionText>> parse_command_line(int argc,
                                                                          const char* const* argv) {
  using Answer = std::variant<ParsedCommand, HelpOrVersionText>;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || is_help_request(words[0])) return Answer(HelpOrVersionText{program_help()});
  if (words[0] == "--version") return Answer(HelpOrVersionText{format_version()});
  if (words[0] == "help") {
    const Command* topic = words.size() > 1 ? find_command(words[1]) : nullptr;
    if (words.size() > 1 && topic == nullptr) return unknown_command(words[1]);
    return Answer(HelpOrVersionText{topic ? command_help(*topic) : program_help()});
  }
  const Command* command = find_command(words[0]);
  if (command == nullptr) return unknown_command(words[0]);
  for (const std::string& word : words) {
    if (word == "--") break;
    if (is_help_request(word)) return Answer(HelpOrVersionText{command_help(*command)});
  }
  BENCH_ASSIGN_OR_RETURN(Arguments arguments,
                         parse_arguments(*command, {words.begin() + 1, words.end()}));
  arguments.command_line = {argv + 1, argv + argc};
  return Answer(ParsedCommand{command, std::move(arguments)});
}

std::vector<std::string> without_flag(const std::vector<std::string>& words, const Option& flag) {
  std::vector<std::string> kept;
  bool is_verbatim = false;  // after `--`
  for (const std::string& word : words) {
    is_verbatim |= word == "--";
    if (!is_verbatim && word == fmt::format("--{}", flag.name)) continue;
    const bool has_letters = word.size() > 1 && word[0] == '-' && word[1] != '-';
    if (is_verbatim || !has_letters) {
      kept.push_back(word);
      continue;
    }
    const std::size_t end = end_of_flags(word);
    std::string letters = word.substr(0, end);
    std::erase(letters, flag.details.letter);
    if (letters.size() > 1 || end < word.size()) kept.push_back(letters + word.substr(end));
  }
  return kept;
}

std::string program_name(const std::string& name, pid_t process, const Env& env) {
  const std::string launcher = env.variable(kProgramNameVariable).value_or("");
  const std::string prefix = fmt::format("{} ", process);
  return launcher.starts_with(prefix) && launcher.size() > prefix.size()
             ? launcher.substr(prefix.size())
             : name;
}

int bench_main(int argc, const char* const* argv, Env& env) {
  auto parsed = parse_command_line(argc, argv);
  if (!parsed.ok()) {
    print_sentence(env, fmt::format("bench: {}", parsed.error().message()));
    // `git bisect run` would count every commit as bad.
    if (asks_for_bisect(argc, argv)) return static_cast<int>(kSkippedCommit);
    return static_cast<int>(ExitStatus::usage);
  }
  if (const auto* text = std::get_if<HelpOrVersionText>(&*parsed)) {
    *env.out << text->text << std::flush;
    return static_cast<int>(ExitStatus::success);
  }
  auto& parsed_command = std::get<ParsedCommand>(*parsed);
  parsed_command.arguments.program = shell_quoted(program_name(argv[0], getpid(), env));
  // A worker needs the processor binding that its environment requests.
  if (parsed_command.command->run != worker_command) restore_inherited_processors();
  const ExitStatus status = parsed_command.command->run(parsed_command.arguments, env);
  env.out->flush();
  return static_cast<int>(status);
}

int exit_status_after_output(int status, int write_error, Env& env) {
  if (write_error == 0 || write_error == EPIPE) return status;
  print_sentence(env,
                 fmt::format("bench: (standard output): cannot write: {}; the output is incomplete",
                             std::generic_category().message(write_error)));
  return static_cast<int>(ExitStatus::usage);
}

// One row per option of another profiler.
namespace {

struct ForeignOption {
  std::string_view tool;
  std::string_view written;
  std::string_view command;  // the command of this program that does the same
  std::string_view instead;
  std::string_view hint = {};  // the whole hint, if there is no option instead
};
constexpr std::string_view kMegEngine = "MegEngine's profile_analyze";
constexpr std::string_view kPyProf = "PyProf's prof";
constexpr std::string_view kNvprof = "nvprof";
constexpr std::string_view kPyTorch = "PyTorch's profiler";
constexpr std::string_view kNsys = "nsys stats";
constexpr std::string_view kGoogleBenchmark = "Google Benchmark";
constexpr std::string_view kBenchdnn = "benchdnn";
constexpr std::string_view kHyperfine = "hyperfine";

constexpr std::array kForeignOptions = {
    ForeignOption{kMegEngine, "--opr-name", "analyze", "--name REGEX"},
    ForeignOption{kMegEngine, "--input-dtype", "analyze", "--dtype NAME"},
    ForeignOption{kMegEngine, "--show-host", "analyze", "--kind operator"},
    ForeignOption{kMegEngine, "--copy-time", "analyze", "--kind memcpy"},
    ForeignOption{kMegEngine, "--wiki", "analyze", "--format markdown"},
    ForeignOption{kMegEngine, "--confluence", "analyze", "--format markdown"},
    ForeignOption{kMegEngine, "--dump-only-opr", "analyze", "--format json"},
    ForeignOption{kMegEngine, "--top-end-key", "analyze", "--order-by time_ns"},
    ForeignOption{kMegEngine, "--print-only", "analyze", "--summary"},
    ForeignOption{kPyProf, "--csv", "analyze", "--format csv"},
    ForeignOption{kNvprof, "--print-gpu-trace", "analyze", "--kind kernel"},
    ForeignOption{kNvprof, "--print-gpu-summary", "analyze", "--kind kernel --aggregate-by name"},
    ForeignOption{kNvprof, "--print-api-trace", "analyze", "--kind api"},
    ForeignOption{kNvprof, "--print-api-summary", "analyze", "--kind api --aggregate-by name"},
    ForeignOption{kPyTorch, "--sort-by", "analyze", "--order-by COLUMN"},
    ForeignOption{kNsys, "--report", "analyze", "--kind kernel --aggregate-by name"},
    ForeignOption{kGoogleBenchmark, "--benchmark_filter", "run", "--filter '/REGEX/'"},
    ForeignOption{kGoogleBenchmark, "--benchmark_filter", "list", "--filter '/REGEX/'"},
    ForeignOption{kGoogleBenchmark, "--benchmark_list_tests", "run", "--dry-run"},
    ForeignOption{kGoogleBenchmark, "--benchmark_out", "run", "--out FILE.jsonl"},
    ForeignOption{kGoogleBenchmark, "--benchmark_repetitions", "run", "--set measure.processes=N"},
    ForeignOption{kGoogleBenchmark, "--benchmark_min_time", "run", "--set measure.max_time=TIME"},
    ForeignOption{kGoogleBenchmark, "--benchmark_format", "run", "--json"},
    ForeignOption{kBenchdnn, "--mode", "run", "",
                  "omit it: `bench run` checks and measures each case, as benchdnn does with "
                  "`--mode=CP`"},
    ForeignOption{kBenchdnn, "--batch", "run", "bench import benchdnn FILE -o CONFIG.yaml"},
    ForeignOption{kHyperfine, "--export-json", "run", "--out FILE.jsonl"},
    ForeignOption{kHyperfine, "--runs", "run", "--set measure.processes=N"},
};

}  // namespace

std::optional<std::string> foreign_option_hint(std::string_view command, std::string_view written) {
  const auto* row = std::ranges::find_if(kForeignOptions, [&](const ForeignOption& option) {
    return option.command == command && option.written == written;
  });
  if (row == kForeignOptions.end()) return std::nullopt;
  if (!row->hint.empty()) return std::string(row->hint);
  return fmt::format("use `{}`, which is `{}` of {}", row->instead, row->written, row->tool);
}

}  // namespace bench
