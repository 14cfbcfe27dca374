// SPDX-License-Identifier: Apache-2.0
// The commands: one row each. Help, man page, completion and spelling hints come from this table.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/cli/option.hpp"
#include "harness/result/record.hpp"

#include <iosfwd>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

struct Option;      // harness/cli/option.hpp
struct ReadReport;  // profiler/reader.hpp

enum class Visibility { shown, hidden };

struct Command {
  std::string_view name;
  std::string_view operands;  // "CONFIG...", empty: takes none
  int min_operands;
  int max_operands;              // -1 = any number
  std::string_view summary;      // one line
  std::string_view description;  // paragraphs for --help and the man page
  std::string_view examples;     // lines "command  # what it does"
  std::string_view options;      // names of rows of options(), with blanks between
  ExitStatus (*run)(const Arguments& arguments, Env& env);
  Visibility visibility = Visibility::shown;
  Words (*operand_words)() = nullptr;  // what a shell offers as the first operand; nullptr: files
  std::string (*list)() = nullptr;     // lines in place of kListPlace in the description
};

// In the description of a command, stands for the lines that Command::list returns.
inline constexpr std::string_view kListPlace = "{list}\n";
// Returns the description with its list.
std::string describe(const Command& command);

std::span<const Command> commands();
// Returns the options of a command in the order of its help.
std::vector<const Option*> options_of(const Command& command);
const Command* find_command(std::string_view name);  // nullptr if unknown
// Returns the commands that help, completion and spelling hints list.
std::vector<const Command*> shown_commands();

// One function per command, each in its own source file.
ExitStatus run_command(const Arguments& arguments, Env& env);
ExitStatus list_command(const Arguments& arguments, Env& env);
ExitStatus submit_command(const Arguments& arguments, Env& env);
ExitStatus validate_command(const Arguments& arguments, Env& env);
ExitStatus explain_command(const Arguments& arguments, Env& env);
ExitStatus analyze_command(const Arguments& arguments, Env& env);
ExitStatus trace_command(const Arguments& arguments, Env& env);
ExitStatus compare_command(const Arguments& arguments, Env& env);
ExitStatus baseline_command(const Arguments& arguments, Env& env);
ExitStatus history_command(const Arguments& arguments, Env& env);
ExitStatus gate_command(const Arguments& arguments, Env& env);
ExitStatus duet_command(const Arguments& arguments, Env& env);
ExitStatus selftest_command(const Arguments& arguments, Env& env);
ExitStatus report_command(const Arguments& arguments, Env& env);
// Returns the exit status of the profiled program, which can be any number.
ExitStatus profile_command(const Arguments& arguments, Env& env);
ExitStatus peak_command(const Arguments& arguments, Env& env);
ExitStatus import_command(const Arguments& arguments, Env& env);
ExitStatus doctor_command(const Arguments& arguments, Env& env);
ExitStatus completion_command(const Arguments& arguments, Env& env);
ExitStatus worker_command(const Arguments& arguments, Env& env);
ExitStatus man_command(const Arguments& arguments, Env& env);
ExitStatus manual_command(const Arguments& arguments, Env& env);

// Prints "bench COMMAND: MESSAGE" to standard error and returns `status`. Lines of `error.next`
// after the first one are a list below the message.
ExitStatus fail(std::string_view command, const Error& error, ExitStatus status, Env& env);

// Prints to env.err how many lines and records of a profile were not read, and the notes of the
// reader. Lines that are not profile data are counted only if `verbosity` is normal.
void report_losses(std::string_view command, const ReadReport& report, Verbosity verbosity,
                   Env& env);
// Prints how several profiles were put onto one clock (ProfileSet::statements()), unless
// `verbosity` is quiet.
void report_statements(std::string_view command, const std::vector<std::string>& statements,
                       Verbosity verbosity, Env& env);

}  // namespace bench
