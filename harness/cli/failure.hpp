// SPDX-License-Identifier: Apache-2.0
// How a command ends if it cannot complete its task.
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/command.hpp"

#include <string_view>

namespace bench {

// Prints "bench COMMAND: MESSAGE" to standard error and returns `status`.
ExitStatus fail(std::string_view command, const Error& error, ExitStatus status, Env& env);

}  // namespace bench
