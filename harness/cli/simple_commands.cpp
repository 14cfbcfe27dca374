// SPDX-License-Identifier: Apache-2.0
// Commands that only print a text of help.hpp.
#include "base/nearest_name.hpp"
#include "base/printable.hpp"
#include "base/quote.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/help.hpp"

#include <fmt/format.h>

#include <ostream>

namespace bench {
ExitStatus completion_command(const Arguments& arguments, Env& env) {
  std::vector<std::string_view> names;
  for (const Shell& shell : completion_shells()) {
    names.push_back(shell.name);
    if (shell.name == arguments.inputs[0]) {
      *env.out << shell.script();
      return ExitStatus::success;
    }
  }
  const std::string& shell = arguments.inputs[0];
  print_sentence(env, fmt::format("bench completion: no completion for {}; {}", quote(shell),
                                  expectation(shell, names)));
  return ExitStatus::usage;
}

ExitStatus man_command(const Arguments&, Env& env) {
  *env.out << format_manual();
  return ExitStatus::success;
}

ExitStatus manual_command(const Arguments&, Env& env) {
  *env.out << manual_page();
  return ExitStatus::success;
}

}  // namespace bench
