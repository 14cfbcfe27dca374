// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "harness/cli/command.hpp"

#include <fmt/format.h>

namespace bench {

ExitStatus fail(std::string_view command, const Error& error, ExitStatus status, Env& env) {
  print_line(*env.err, fmt::format("bench {}: {}", command, error.message()));
  return status;
}

}  // namespace bench
