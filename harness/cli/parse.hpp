// SPDX-License-Identifier: Apache-2.0
// From argv to a command and its arguments. The only header in front of CLI11.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/option.hpp"

#include <string>
#include <sys/types.h>
#include <variant>
#include <vector>

namespace bench {

// Help or version was asked for: print and exit 0.
struct TextWanted {
  std::string text;
};

struct ParsedCommand {
  const Command* command;
  Arguments arguments;
};

// Errors name the wrong word and the nearest valid one.
Result<std::variant<ParsedCommand, TextWanted>> parse_command_line(int argc,
                                                                   const char* const* argv);

// The words of a command line without a flag that takes no value: without `-n`, `-nq` is `-q`. What
// follows `--` stays.
std::vector<std::string> without_flag(const std::vector<std::string>& words, const Option& flag);

// The launcher of a checkout sets it to "PID NAME": its own process, which becomes this program,
// and the name that the user called. Programs that are started from here inherit it: the number
// tells them that it is not about them.
inline constexpr const char* kCalledAsVariable = "BENCH_CALLED_AS";

// The name under which the user called this program: `name` (argv[0]), or the launcher's.
std::string called_as(const std::string& name, pid_t process, const Env& env);

// Parses and runs: all of main. Returns the process's exit status.
int bench_main(int argc, const char* const* argv, Env& env);

// The exit status of a command after its standard output was closed with the errno `write_error`. A
// result that did not arrive is worth no other status: 2 and a message. If the reader went away
// (EPIPE: `bench list | head`), the command ends quietly with its own status.
int status_after_output(int status, int write_error, Env& env);

}  // namespace bench
