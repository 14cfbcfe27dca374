// SPDX-License-Identifier: Apache-2.0
// Parses argv into a command and its arguments. Only parse.cpp uses CLI11.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/option.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace bench {

// The requested help or version. The program prints it and exits with 0.
struct HelpOrVersionText {
  std::string text;
};

struct ParsedCommand {
  const Command* command;
  Arguments arguments;
};

// Parses the whole command line. An error names the invalid word and, if there is one, a similar
// valid word.
Result<std::variant<ParsedCommand, HelpOrVersionText>> parse_command_line(int argc,
                                                                          const char* const* argv);

// Returns the words of a command line without a flag that takes no value: without `-n`, `-nq`
// becomes `-q`. The words after `--` stay.
std::vector<std::string> without_flag(const std::vector<std::string>& words, const Option& flag);

// The launcher script of a checkout sets this variable to "PID NAME": its process id and the name
// that the user called. The launcher then becomes this program by exec, so the process id stays.
// Child processes inherit the variable and ignore it, because their process id differs.
inline constexpr const char* kProgramNameVariable = "BENCH_CALLED_AS";

// Returns the name under which the user called this program: that of the launcher if it started
// `process`, otherwise `name` (argv[0]).
std::string program_name(const std::string& name, pid_t process, const Env& env);

// Parses the command line and runs the command. Returns the exit status of the process.
int bench_main(int argc, const char* const* argv, Env& env);

// Returns the exit status of a command after its standard output was closed with the errno
// `write_error`. If a result could not be written, the status is 2, with a message. If the reader
// closed the pipe (EPIPE: `bench list | head`), the command ends silently with its own status.
int exit_status_after_output(int status, int write_error, Env& env);

// Options of other profilers, for hints: what to write instead.

// Returns "use `--name REGEX`: ..." for an option of another profiler that `bench COMMAND` has
// under another name; nullopt for others. `written` begins with "--" and has no value.
std::optional<std::string> foreign_option_hint(std::string_view command, std::string_view written);

}  // namespace bench
