// SPDX-License-Identifier: Apache-2.0
// The turn of a command that measures (harness/host/machine_turn.hpp).
#pragma once

#include "base/env.hpp"
#include "base/result.hpp"
#include "harness/cli/arguments.hpp"
#include "harness/host/machine_turn.hpp"
#include "harness/result/record.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench {

// Takes the turn as --beside says. Waits at most kTurnLimit, and at most the budget of the
// measurement. `interrupted` is polled while it waits.
Result<MachineTurn> take_turn(const Arguments& arguments, std::optional<Nanoseconds> budget,
                              const std::function<bool()>& interrupted, Env& env);
// The same for a command that does not watch for interruptions yet: watches while it waits.
Result<MachineTurn> take_turn(const Arguments& arguments, std::optional<Nanoseconds> budget,
                              Env& env);

// Adds to the environment of a program that this process starts that the turn includes it.
void include_in_turn(std::map<std::string, std::string>& environment);

// The exit status of a command that got no turn.
inline constexpr ExitStatus kNoTurn = ExitStatus::not_measured;

}  // namespace bench
