// SPDX-License-Identifier: Apache-2.0
// How tables are shown where env.out leads.
#pragma once

#include "base/env.hpp"
#include "harness/report/console.hpp"

namespace bench {

// As wide as the terminal. Into a file or a pipe nothing is shortened, and nothing coloured.
ConsoleOptions console_options(const Env& env);

}  // namespace bench
