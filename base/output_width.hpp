// SPDX-License-Identifier: Apache-2.0
// The width of what the program prints.
#pragma once

#include "base/env.hpp"

#include <optional>

namespace bench {

// Minimum width of tables and messages, also on narrower terminals, because what is narrower is not
// readable.
inline constexpr int kMinOutputWidth = 40;

// Returns the value of COLUMNS, which a user or a script can export. Returns nullopt if it is not a
// positive number.
std::optional<int> requested_width(const Env& env);

// Returns the width of messages on env.err: that of the terminal, or COLUMNS if there is no
// terminal. Returns nullopt if there is no limit.
std::optional<int> message_width(const Env& env);

}  // namespace bench
